// `op roles check` shows definitions that are not ours and settings that a role gave itself.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EXIT_DONE, EXIT_FAILED } from '../../src/operator/desk/command-error.ts'
import type { Desk } from '../../src/operator/desk/desk.ts'
import { checkRoles } from '../../src/operator/roles.ts'
import { urlAs } from '../../tools/program-roles.ts'
import { createTestDatabase, onServer } from '../support/harness.ts'

test('op roles check shows settings of a role and changed definitions', async () => {
  const { db, name, url, drop } = await createTestDatabase()
  const lines: string[] = []
  const say: Desk['say'] = (_, said) => void lines.push(...said.map(String))
  const check = () => checkRoles({ modules: { db }, say } as unknown as Desk)
  try {
    assert.equal(await check(), EXIT_DONE, lines.join('\n'))
    await onServer(
      (client) =>
        client.query(`alter role tollgate_gateway in database ${name}
          set default_transaction_isolation = 'serializable'`),
      urlAs(url, 'tollgate_gateway'),
    )
    await db.query(`create or replace function ledger_refuse_change() returns trigger
      language plpgsql as 'begin return null; end'`)
    lines.length = 0
    assert.equal(await check(), EXIT_FAILED)
    assert.deepEqual(lines.slice(0, 2), [
      'wrong: tollgate_gateway has the setting default_transaction_isolation=serializable ' +
        'in this database',
      'definition changed: function ledger_refuse_change',
    ])
    await db.query(`insert into kysely_migration values ('9999-newer', now())`)
    lines.length = 0
    await check()
    assert.ok(lines.includes('definitions were not compared: the newest migration is 9999-newer'))
  } finally {
    await drop()
  }
})
