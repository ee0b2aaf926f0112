// A program with its own role is neither a superuser nor an owner of the ledger's tables.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  createTestDatabase,
  onServer,
  settingsOf,
  type TestDatabase,
} from '../../../test/support/harness.ts'
import { createPlainDbUser, type PlainDbUser } from '../../../test/support/plain-db-user.ts'
import { openDatabase } from './db.ts'
import { requireOrdinaryRole } from './own-role.ts'
import { UnfitDatabase } from './session.ts'

const at = {
  database: undefined as unknown as TestDatabase,
  dbUser: undefined as unknown as PlainDbUser,
}
before(async () => {
  at.database = await createTestDatabase()
  at.dbUser = await createPlainDbUser(at.database)
})
after(async () => {
  await at.dbUser.drop()
  await at.database.drop()
})

async function check(url: string): Promise<void> {
  const db = openDatabase(settingsOf(url), 'test', () => undefined)
  await requireOrdinaryRole(db).finally(() => db.end())
}
const unfit = (sentence: RegExp) => (error: Error) =>
  error instanceof UnfitDatabase && sentence.test(error.message)

test('refuses a superuser and names what to do', async () => {
  const sentence = /^the database role postgres is a superuser; give .* or set database\.roles to /
  await assert.rejects(check(at.database.url), unfit(sentence))
})

test('refuses the owner of a ledger table, and a member of the owner’s role', async () => {
  const { name, run, url } = at.dbUser
  await check(url)
  await run('alter table entries owner to NAME')
  await assert.rejects(check(url), unfit(new RegExp(`role ${name} owns entries; give `)))
  const member = await createPlainDbUser(at.database)
  await onServer((client) => client.query(`grant ${name} to ${member.name}`))
  await assert.rejects(check(member.url), unfit(/owns entries/))
  await run('alter table entries owner to postgres')
  await check(member.url)
  await member.drop()
})
