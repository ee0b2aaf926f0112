// npm run demo and npm run dev, as a newcomer meets them: started from nothing, the curl lines they
// print are typed as they stand, one signs in, Ctrl-C ends it, and nothing is left. Runs alone.
import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { onRoles } from '../../tools/program-roles.ts'

const root = join(import.meta.dirname, '../..')
const state = mkdtempSync(join(tmpdir(), 'tollgate-dev-'))
// As root, the database runs as another user, who needs access to the folder.
chmodSync(state, 0o755)
/** An idle machine takes 15 s; a busy one more. */
const READY_MS = 120_000
const GONE_MS = 20_000
/** Without /proc the test checks only the ports. */
const hasProc = existsSync('/proc/self/environ')
const started: ChildProcess[] = []

after(() => {
  for (const child of started) child.kill('SIGKILL')
  rmSync(state, { recursive: true, force: true })
})

/** Resolves with what it printed once the last of the three lines is there. */
async function start(
  what: 'demo' | 'dev',
): Promise<{ child: ChildProcess; printed: string; curls: string[] }> {
  const { DATABASE_URL: _, ...env } = process.env
  const child = spawn(process.execPath, [join(root, 'tools/node.mjs'), `tools/${what}.ts`], {
    cwd: root,
    env: { ...env, TOLLGATE_STATE: state },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  started.push(child)
  let printed = ''
  const ready = Promise.withResolvers<string[]>()
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (bytes: Buffer) => {
      printed += bytes.toString()
      const curls = printed.split('\n').filter((line) => line.startsWith('curl '))
      if (curls.length === 3 && /\/v1\/me .*\n/.test(printed)) ready.resolve(curls)
    })
  }
  child.once('exit', () => ready.reject(new Error(`it ended: ${printed}`)))
  const timer = setTimeout(() => ready.reject(new Error(`not ready: ${printed}`)), READY_MS)
  const curls = await ready.promise.finally(() => clearTimeout(timer))
  return { child, printed, curls }
}

async function shell(line: string): Promise<string> {
  return (await promisify(execFile)('sh', ['-c', line.replace('curl ', 'curl -sS -m 10 ')])).stdout
}

/** Every process that was started with this state directory. */
function ours(): string[] {
  if (!hasProc) return []
  const read = (path: string) => {
    try {
      return readFileSync(path, 'utf8')
    } catch {
      return '' // gone meanwhile, or another user's
    }
  }
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry) && Number(entry) !== process.pid)
    .map((pid) => read(`/proc/${pid}/cmdline`) + read(`/proc/${pid}/environ`))
    .filter((text) => text.includes(state))
}

async function isTaken(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const [name] = await Promise.race([
    once(socket, 'connect').then(() => ['connect']),
    once(socket, 'error').then(() => ['error']),
  ]).catch(() => ['error'])
  socket.destroy()
  return name === 'connect'
}

async function untilGone(): Promise<void> {
  const deadlineMs = performance.now() + GONE_MS
  while (ours().length > 0 && performance.now() < deadlineMs) {
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

test('demo says what it takes instead of starting with arguments', async () => {
  const demo = `${process.execPath} ${join(root, 'tools/node.mjs')} tools/demo.ts`
  assert.match(
    await shell(`cd ${root} && ${demo} --help`),
    /Ctrl-C ends it\.\nIt takes no arguments/,
  )
  await assert.rejects(shell(`cd ${root} && ${demo} --port 1`), { code: 2 })
})

test('demo starts everything with a month of usage, and Ctrl-C leaves no process', {
  timeout: 180_000,
}, async () => {
  const { child, printed, curls } = await start('demo')
  const [plain = '', streamed = '', me = ''] = curls
  const before = JSON.parse(await shell(me))
  assert.ok(before.requests.total > 2_000, 'there is a month of requests')
  assert.ok(before.balance.available > 10_000_000)
  assert.equal(JSON.parse(await shell(plain)).type, 'message')
  assert.match(await shell(streamed), /^event: message_start\n.*\nevent: message_stop\n/s)
  assert.equal(JSON.parse(await shell(me)).requests.total, before.requests.total + 2)
  assert.doesNotMatch(printed, /an outage began|PLUGIN_TIMINGS/, 'nothing looks wrong at first')
  assert.equal(await signIn(printed), 200)
  assert.equal(await consoleSignIn(printed), 200)
  assert.ok(!hasProc || ours().length >= 4, 'its processes can be found')
  const [, operator = ''] = /^Operator +(.+)$/m.exec(printed) ?? []
  assert.match(await shell(operator), /^e-mail +demo@example\.org$/m)
  await audit(printed)

  child.kill('SIGINT')
  const [code] = await once(child, 'exit')
  assert.equal(code, 0)
  assert.deepEqual(ours(), [], 'no process is left')
  const ports = [...printed.matchAll(/(?:127\.0\.0\.1:|localhost:|port[ =])(\d+)/g)]
  assert.ok(new Set(ports.map((one) => one[1])).size >= 6, `it says its ports (${ports})`)
  for (const port of new Set(ports.map((one) => one[1]))) {
    assert.equal(await isTaken(Number(port)), false, `port ${port} is free again`)
  }
})

test('the next start keeps key and balance, and kill -9 leaves no process', {
  timeout: 180_000,
}, async () => {
  const { child, curls } = await start('dev')
  const key = readFileSync(join(state, 'dev-key'), 'utf8').trim()
  assert.ok(curls[2]?.includes(key))
  assert.ok(JSON.parse(await shell(curls[2] ?? '')).requests.total > 2_000)
  child.kill('SIGKILL')
  await once(child, 'exit')
  await untilGone()
  assert.deepEqual(ours(), [])
})

/** As the printed address and password would in a browser; answers the status. */
async function signIn(printed: string): Promise<number> {
  const line = /(http:\/\/localhost:\d+) +sign in: (\S+), password: (.+)/.exec(printed)
  const [, cabinet = '', email, password] = line ?? []
  const response = await fetch(`${cabinet}/api/auth/sign-in/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: cabinet },
    body: JSON.stringify({ email, password }),
  })
  return response.status
}

/** As the operator of the seed, with one of the printed codes; answers the last status. */
async function consoleSignIn(printed: string): Promise<number> {
  const [, url = '', email, password] =
    /^Console +(http:\/\/localhost:\d+) +sign in: (\S+), password: (.+)$/m.exec(printed) ?? []
  const [, code] = /^ +([\w-]+), [\w-]+, [\w-]+$/m.exec(printed) ?? []
  const post = (path: string, body: object, cookie = '') =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: url, cookie },
      body: JSON.stringify(body),
    })
  const begun = await post('/api/sign-in', { email, password })
  const cookie = begun.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  return (await post('/api/sign-in/code', { code }, cookie)).status
}

/** The audit must find nothing in the seeded month. */
async function audit(printed: string): Promise<void> {
  const port = /PostgreSQL 18 in .*, port (\d+)/.exec(printed)?.[1]
  const DATABASE_URL = `postgres://postgres@127.0.0.1:${port}/tollgate`
  const LEDGER_SPOOL_DIRECTORY = join(state, 'audit-spool')
  const OPERATORS_SESSION_FILE = join(state, 'dev-op-session')
  const env = onRoles('op', {
    ...{ ...process.env, DATABASE_URL, LEDGER_SPOOL_DIRECTORY, OPERATORS_SESSION_FILE },
  })
  const parameters = [join(root, 'tools/node.mjs'), 'src/main.ts', 'op', 'audit']
  const { stdout } = await promisify(execFile)(process.execPath, parameters, { cwd: root, env })
  assert.match(stdout, /the ledger ties out/)
}
