// A server that has never had our roles, as a new installation starts: the script of compose makes
// them, and `migrate` as the plain owner of the database grants each what it needs.
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startPostgres } from '../../tools/postgres.ts'
import { onServer } from '../support/harness.ts'
import { runProgram, runToEnd } from '../support/run-to-end.ts'

const ADDRESSES = ['migrate', 'keeper', 'gateway', 'cabinet', 'worker', 'operator']

test('after compose’s script a plain owner migrates, and each role has its rights', async (t) => {
  const server = await startPostgres()
  const directory = await mkdtemp(join(tmpdir(), 'tollgate-first-'))
  try {
    await onServer((client) => client.query('create database tollgate'), server.url)
    const { hostname, port, username } = new URL(server.url)
    const urlOf = (one: string) =>
      `postgres://tollgate_${one}:password-${one}@${hostname}:${port}/tollgate`
    await writeFile(join(directory, 'database_password'), 'unused\n')
    for (const one of ADDRESSES) {
      await writeFile(join(directory, `${one}_database_url`), `${urlOf(one)}\n`)
    }
    const env = {
      ...{ SECRETS_DIRECTORY: directory, PGDATABASE: 'tollgate' },
      ...{ PGHOST: hostname, PGPORT: port, PGUSER: username },
    }
    const made = await runToEnd('bash', ['deploy/docker/roles.sh'], { env })
    if (/psql: command not found/.test(made.err)) return t.skip('psql is not installed')
    assert.equal(made.code, 0, made.err)
    const program = (one: string, ...words: string[]) =>
      runProgram(words, { env: { DATABASE_URL: urlOf(one) } })
    const migrated = await program('migrate', 'migrate')
    assert.equal(migrated.code, 0, `${migrated.out}${migrated.err}`)
    const checked = await program('operator', 'op', 'roles', 'check')
    assert.equal(checked.out, 'every role may do what it should, and nothing else\n', checked.err)
    const asOwner = await program('migrate', 'op', 'audit')
    assert.match(asOwner.err, /tollgate_migrate owns books and entries; give the program its own/)
  } finally {
    await server.stop()
    await rm(directory, { recursive: true, force: true })
  }
})
