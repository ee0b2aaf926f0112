// Every command refuses a database that is not as configured, with one sentence and code 2.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createTestDatabase, onServer, serverUrl, type TestDatabase } from '../support/harness.ts'
import { createLimitedDbUser } from '../support/limited-db-user.ts'
import { pgBouncerVersion, startPgBouncer } from '../support/pgbouncer.ts'
import { runProgram } from '../support/run-to-end.ts'

const at = { database: undefined as unknown as TestDatabase, directory: '' }
before(async () => {
  at.database = await createTestDatabase()
  at.directory = await mkdtemp(join(tmpdir(), 'tollgate-unfit-'))
})
after(async () => {
  await at.database.drop()
  await rm(at.directory, { recursive: true, force: true })
})

/** The commands of every role. */
const ROLES = [['serve'], ['work'], ['cabinet'], ['console'], ['op', 'acts']]

function run(args: readonly string[], extra: Readonly<Record<string, string>>) {
  const env = {
    DATABASE_URL: at.database.url,
    LEDGER_SPOOL_DIRECTORY: join(at.directory, 'spool'),
    GATEWAY_PORT: '0',
    GATEWAY_PROCESSES: '2',
    CABINET_PORT: '0',
    METRICS_PORT: '0',
    METRICS_WORK_PORT: '0',
    METRICS_CABINET_PORT: '0',
    CONSOLE_PORT: '0',
    METRICS_CONSOLE_PORT: '0',
    ...extra,
  }
  return runProgram(args, { env })
}

/** Every given command ends with code 2 and this one line. */
async function refusesAll(
  commands: readonly (readonly string[])[],
  extra: Readonly<Record<string, string>>,
  sentence: RegExp,
): Promise<void> {
  for (const args of commands) {
    const { code, out, err } = await run(args, extra)
    assert.equal(code, 2, `${args.join(' ')}: ${out}${err}`)
    assert.match(err, sentence)
    assert.equal(err.trim().split('\n').length, 1, `${args.join(' ')} prints one line: ${err}`)
  }
}

test('every role refuses a database of another cell', async () => {
  const sentence = /^cell: the configuration says 5, but the database is cell 0; /
  await refusesAll(ROLES, { TOLLGATE_CELL: '5' }, sentence)
})

test('every program with a role of its own refuses a superuser', async () => {
  const separate = { DATABASE_ROLES: 'separate', DATABASE_KEEPER_URL: at.database.url }
  const sentence = /^the database role postgres is a superuser; give the program its own role /
  await refusesAll(ROLES, separate, sentence)
})

test('migrate numbers an empty database, and refuses books of another cell', async () => {
  const name = `${at.database.name}_cell`
  await onServer((client) => client.query(`create database ${name}`))
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  const extra = { DATABASE_URL: url.href, TOLLGATE_CELL: '5' }
  const first = await run(['migrate'], extra)
  assert.equal(first.code, 0, first.err)
  assert.match(first.out, /^applied 0001-.*, cell 5$/m)
  const again = await run(['migrate'], extra)
  assert.match(again.out, /^nothing to apply$/m)
  const find = () =>
    onServer(
      async (client) => (await client.query('select ledger_open() >> 40 as cell')).rows,
      url.href,
    )
  assert.deepEqual(await find(), [{ cell: '5' }])
  const sentence = /^cell: the configuration says 7, but the database is cell 5; /
  await refusesAll([['migrate']], { ...extra, TOLLGATE_CELL: '7' }, sentence)
  await onServer((client) => client.query(`drop database ${name}`))
})

test('serve and migrate refuse a session that can lose commits', async () => {
  const dbUser = await createLimitedDbUser(at.database)
  const name = new URL(dbUser.url).username
  await onServer((client) => client.query(`alter role ${name} set synchronous_commit = off`))
  const sentence = /synchronous_commit = off, with which .* loses charges; .*ALTER ROLE/
  await refusesAll([['serve'], ['migrate']], { DATABASE_URL: dbUser.url }, sentence)
  await dbUser.drop()
})

const skip = pgBouncerVersion() === undefined ? 'PgBouncer is not installed' : false

// `npm run faults -- pgbouncer` starts every role behind it.
test('serve and migrate refuse PgBouncer without database.directUrl', { skip }, async () => {
  const bouncer = await startPgBouncer(at.database.url, ['options', 'extra_float_digits'])
  const extra = { DATABASE_URL: bouncer.urlOf(at.database.url) }
  const sentence = /^database\.url leads to a connection pooler .*; set database\.directUrl to /
  await refusesAll([['serve'], ['migrate']], extra, sentence).finally(bouncer.stop)
})
