// Programs that start before their database: each waits for it without ending, says so once, and
// then does its work. `work` has the same test in commands.test.ts.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { freePorts } from '../../tools/free-port.ts'
import { createDatabaseProxy, type DatabaseProxy } from '../support/database-proxy.ts'
import { sleep } from '../support/drill.ts'
import { createTestDatabase, onServer, serverUrl, type TestDatabase } from '../support/harness.ts'
import { startProgram } from '../support/program.ts'

/** Three tries: after half a second, one, and two. */
const AWAY_MS = 3_000
const AWAY = 'the database is away: work waits for it'

const at = { database: undefined as unknown as TestDatabase, directory: '' }
before(async () => {
  at.database = await createTestDatabase()
  at.directory = await mkdtemp(join(tmpdir(), 'tollgate-start-'))
})
after(async () => {
  await at.database.drop()
  await rm(at.directory, { recursive: true, force: true })
})

async function environment(proxy: DatabaseProxy) {
  const [metricsPort = 0] = await freePorts(1)
  const env = {
    DATABASE_URL: proxy.url,
    LEDGER_SPOOL_DIRECTORY: join(at.directory, 'spool'),
    ...{ GATEWAY_PORT: '0', GATEWAY_PROCESSES: '2', CABINET_PORT: '0' },
    ...{ METRICS_PORT: String(metricsPort), METRICS_CABINET_PORT: String(metricsPort) },
  }
  return { env, readyUrl: `http://127.0.0.1:${metricsPort}/readyz` }
}

async function cutProxy(url: string): Promise<DatabaseProxy> {
  const proxy = await createDatabaseProxy(url)
  proxy.cut()
  return proxy
}

for (const [command, ready] of [
  ['serve', 'the fleet is ready'],
  ['cabinet', 'serving the cabinet'],
] as const) {
  test(`${command} waits for the database at its start, unready, and then serves`, async (t) => {
    const proxy = await cutProxy(at.database.url)
    t.after(() => proxy.end())
    const { env, readyUrl } = await environment(proxy)
    const program = startProgram(command, env)
    t.after(() => program.stop('SIGKILL'))
    await program.until(AWAY)
    const { status } = await fetch(readyUrl)
    assert.equal(status, 503)
    await sleep(AWAY_MS)
    assert.equal(program.said(ready), 0)
    proxy.restore()
    await program.until(ready)
    assert.equal((await fetch(readyUrl)).status, 200)
    assert.equal(program.said('a process died; starting another'), 0, 'no process has died')
    assert.equal(program.said(AWAY), command === 'serve' ? 2 : 1, 'each process says it once')
    assert.equal(await program.stop(), 0)
  })

  test(`${command} ends on SIGTERM while it waits for the database`, async (t) => {
    const proxy = await cutProxy(at.database.url)
    t.after(() => proxy.end())
    const program = startProgram(command, (await environment(proxy)).env)
    t.after(() => program.stop('SIGKILL'))
    await program.until(AWAY)
    assert.equal(await program.stop(), 0)
  })
}

test('migrate waits for the database, and then brings it up to date', async (t) => {
  const name = `${at.database.name}_late`
  await onServer((client) => client.query(`create database ${name}`))
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  const proxy = await cutProxy(url.href)
  t.after(async () => {
    await proxy.end()
    await onServer((client) => client.query(`drop database ${name} with (force)`))
  })
  const program = startProgram('migrate', (await environment(proxy)).env)
  await program.until(AWAY)
  await sleep(AWAY_MS)
  assert.equal(program.isOver(), false)
  proxy.restore()
  assert.equal(await program.ended(), 0, program.printed())
  assert.match(program.printed(), /^applied 0001-/m)
})
