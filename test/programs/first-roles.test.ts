// A server that has never had our roles, as a new installation starts. Either the script of compose
// makes them, and `migrate` as the plain owner of the database grants each what it needs; or
// `migrate` makes them itself, as an owner who may.
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
    assert.equal(
      checked.out,
      'every role has the rights that it should have, and nobody else was granted any\n',
      checked.err,
    )
    // These belong to the whole server, so that no test on a shared one may change them.
    await onServer(async (client) => {
      await client.query('grant set on parameter session_replication_role to tollgate_gateway')
      await client.query('create role olga login')
      await client.query('grant tollgate_auditor to olga')
    }, server.url)
    const changed = await program('operator', 'op', 'roles', 'check')
    assert.deepEqual(changed.out.trimEnd().split('\n'), [
      'too much: tollgate_gateway set parameter session_replication_role',
      'note: olga is a member of tollgate_auditor',
      '1 differences; migrate applies op roles sql again',
    ])
    const asOwner = await program('migrate', 'op', 'audit')
    assert.match(asOwner.err, /tollgate_migrate owns books and entries; give the program its own/)
  } finally {
    await server.stop()
    await rm(directory, { recursive: true, force: true })
  }
})

test('roles that another user made: migrate applies nothing and prints the SQL', async () => {
  const server = await startPostgres()
  const urlOf = (user: string) => `postgres://${user}@127.0.0.1:${server.port}/${user}_data`
  const run = (user: string) => runProgram(['migrate'], { env: { DATABASE_URL: urlOf(user) } })
  const superuser = (sql: string, url = server.url) => onServer((client) => client.query(sql), url)
  try {
    for (const user of ['first', 'second']) {
      await superuser(`create role ${user} login createrole`)
      await superuser(`create database ${user}_data owner ${user}`)
    }
    const first = await run('first')
    assert.equal(first.code, 0, `an owner who may make roles needs nobody: ${first.err}`)
    const refused = await run('second')
    assert.equal(refused.code, 2, `${refused.out}${refused.err}`)
    assert.equal(refused.out, 'grant tollgate_keeper to "second";\n')
    assert.match(refused.err, /second is no member of tollgate_keeper, which another user made/)
    const tables = await superuser(
      `select from pg_tables where schemaname = 'public'`,
      urlOf('second'),
    )
    assert.equal(tables.rowCount, 0, 'nothing was applied')
    await superuser(refused.out)
    const second = await run('second')
    assert.equal(second.code, 0, second.err)
  } finally {
    await server.stop()
  }
})
