// SIGHUP ends no program. `work`, `cabinet` and `console` read their settings again, `migrate` goes
// on, and `serve` replaces its processes, which `npm run faults -- rolling-restart` tests.
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createDatabaseProxy } from '../support/database-proxy.ts'
import { createTestDatabase, type TestDatabase } from '../support/harness.ts'
import { startProgram } from '../support/program.ts'

const REREAD = 'the settings were read again'
const AWAY = 'the database is away: work waits for it'

const at = { database: undefined as unknown as TestDatabase, directory: '' }
before(async () => {
  at.database = await createTestDatabase()
  at.directory = await mkdtemp(join(tmpdir(), 'tollgate-hangup-'))
})
after(async () => {
  await at.database.drop()
  await rm(at.directory, { recursive: true, force: true })
})

const environment = () => ({
  DATABASE_URL: at.database.url,
  LEDGER_SPOOL_DIRECTORY: join(at.directory, 'spool'),
  ...{ CABINET_PORT: '0', METRICS_CABINET_PORT: '0', METRICS_WORK_PORT: '0' },
  ...{ CONSOLE_PORT: '0', METRICS_CONSOLE_PORT: '0' },
  ...{ GATEWAY_PORT: '0', GATEWAY_PROCESSES: '1', METRICS_PORT: '0' },
})

for (const [command, ready] of [
  ['work', 'working'],
  ['cabinet', 'serving the cabinet'],
  ['console', 'serving the console'],
] as const) {
  test(`${command} reads its settings again on SIGHUP`, async (t) => {
    const file = join(at.directory, `${command}.yaml`)
    const secret = join(at.directory, `${command}-secret`)
    await writeFile(secret, 'a secret of more than thirty-two bytes\n', { mode: 0o600 })
    await writeFile(file, 'log:\n  level: info\n')
    const program = startProgram(command, {
      ...environment(),
      TOLLGATE_CONFIG: file,
      PAYMENTS_DIGEST_SECRET_FILE: secret,
    })
    t.after(() => program.stop('SIGKILL'))
    await program.until(ready)
    await writeFile(secret, 'another one of more than thirty-two bytes\n')
    await writeFile(file, 'log:\n  level: debug\ncabinet:\n  drainSeconds: 7\n')
    program.signal('SIGHUP')
    const { logLevel, needRestart, ...line } = await program.until(REREAD)
    assert.equal(logLevel, 'debug')
    assert.deepEqual(needRestart, ['cabinet.drainSeconds', 'payments.digestSecret'])
    assert.equal(JSON.stringify(line).includes('thirty-two'), false)
    await writeFile(file, 'log:\n  levle: debug\n')
    program.signal('SIGHUP')
    const { problems } = await program.until('the settings are wrong; the old ones stay')
    assert.match(String(problems), /levle/)
    await writeFile(file, 'log:\n  level: error\n')
    program.signal('SIGHUP')
    program.signal('SIGHUP')
    assert.equal(await program.stop(), 0)
    assert.equal(program.said(REREAD), 1, 'a line of level info is no longer written')
  })
}

test('migrate, and programs that wait for the database, go on after SIGHUP', async (t) => {
  const proxy = await createDatabaseProxy(at.database.url)
  t.after(() => proxy.end())
  proxy.cut()
  const env = { ...environment(), DATABASE_URL: proxy.url }
  const programs = ['migrate', 'serve', 'cabinet', 'work'].map((one) => startProgram(one, env))
  t.after(() => Promise.all(programs.map((one) => one.stop('SIGKILL'))))
  for (const one of programs) {
    await one.until(AWAY)
    one.signal('SIGHUP')
  }
  proxy.restore()
  const [migrate, serve, cabinet, work] = programs as [(typeof programs)[0], ...typeof programs]
  assert.equal(await migrate.ended(), 0, migrate.printed())
  await serve?.until('the fleet is ready')
  await cabinet?.until('serving the cabinet')
  await work?.until('working')
})
