// Tests the private PostgreSQL that other tests kill and freeze, in both versions.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { answer, type PostgresOptions, startPostgres } from '../../tools/postgres.ts'
import { tempRoot } from '../../tools/postgres-binaries.ts'

const hasSystem = existsSync('/usr/lib/postgresql/15/bin/postgres')
const folders: string[] = []
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

for (const version of ['18-embedded', 'system'] as const) {
  const skip = version === 'system' && !hasSystem ? 'postgresql-15 is not installed' : false

  test(`${version}: committed rows survive kill -9 and a restart`, { skip }, async () => {
    const dataDirectory = mkdtempSync(join(tempRoot(), 'tollgate-pg-kept-'))
    folders.push(dataDirectory)
    const options: PostgresOptions = { version, dataDirectory, settings: { work_mem: '5MB' } }
    const first = await startPostgres(options)
    await query(first.url, 'create table kept as select 42 as answer')
    first.kill('SIGKILL')
    await first.stop()
    assert.equal(isAlive(first.pid), false)

    const second = await startPostgres(options)
    const shown = `select answer, current_setting('work_mem') as memory,
      current_setting('timezone') as zone, current_setting('server_encoding') as encoding from kept`
    const rows = await query(second.url, shown)
    await second.stop()
    assert.deepEqual(rows, [{ answer: 42, memory: '5MB', zone: 'UTC', encoding: 'UTF8' }])
    assert.equal(isAlive(second.pid), false)
    assert.equal(existsSync(dataDirectory), true)
  })
}

test('a frozen server does not answer, and answers again after SIGCONT', async () => {
  const postgres = await startPostgres()
  try {
    postgres.kill('SIGSTOP')
    await assert.rejects(answer(postgres.url))
    postgres.kill('SIGCONT')
    assert.equal((await answer(postgres.url)).isSuperuser, true)
    postgres.kill('SIGSTOP')
  } finally {
    await postgres.stop()
  }
  assert.equal(isAlive(postgres.pid), false)
  assert.equal(existsSync(postgres.dataDirectory), false)
})

test('the server ends with the process that started it', { timeout: 30_000 }, async () => {
  const tool = fileURLToPath(new URL('../../tools/postgres.ts', import.meta.url))
  const script = `
    import { startPostgres } from ${JSON.stringify(tool)}
    const { pid, dataDirectory } = await startPostgres()
    console.log(JSON.stringify({ pid, dataDirectory }))
    setInterval(() => {}, 1000)`
  const owner = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(owner.stdout, 'data')
  const { pid, dataDirectory } = JSON.parse(`${line}`)
  owner.kill('SIGKILL')
  while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 20))
  while (existsSync(dataDirectory)) await new Promise((resolve) => setTimeout(resolve, 20))
})
