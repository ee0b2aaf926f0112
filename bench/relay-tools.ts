// Helpers of the relay benchmark: processes bound to cores, the stub and the load generator. The
// last two are in C and compiled here: in JavaScript they would be slower than what they measure.
// Nothing started here outlives this process.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { RequestFiles } from './relay-requests.ts'

const run = promisify(execFile)

/** The relay runs alone on the first core (see RELAY_CORE in relay-load.c), all else on others. */
export const RELAY_CORE = '0'
export const OTHER_CORES = availableParallelism() > 1 ? `1-${availableParallelism() - 1}` : '0'

const START_MS_MAX = 60_000
const STOP_MS_MAX = 10_000

/** Binds this process, and by default those that it starts later. */
export async function leaveRelayCore(): Promise<void> {
  await run('taskset', ['-a', '-c', '-p', OTHER_CORES, String(process.pid)])
}

/** The path of a program; if it is missing, root on Debian installs it. */
export async function ensureProgram(name: string, packages: readonly string[]): Promise<string> {
  const find = async () =>
    (await run('sh', ['-c', `PATH="$PATH:/usr/sbin" command -v ${name}`])).stdout.trim()
  try {
    return await find()
  } catch {
    if (process.getuid?.() !== 0)
      throw new Error(`${name} is missing: install ${packages.join(' ')}`)
    // With run level 1 the package does not start its service.
    const env = { ...process.env, RUNLEVEL: '1', DEBIAN_FRONTEND: 'noninteractive' }
    const install = ['install', '-y', '-q', '--no-install-recommends', ...packages]
    await run('apt-get', install, { env }).catch(async () => {
      await run('apt-get', ['update', '-q'], { env })
      await run('apt-get', install, { env })
    })
    return find()
  }
}

export type Running = {
  readonly child: ChildProcess
  /** The process and its descendants. */
  pids(): number[]
  stop(): Promise<void>
}

/** Starts a program on some cores, with its output in a file. */
export function startOn(
  cores: string,
  command: readonly string[],
  options: { readonly log: string; readonly env?: Record<string, string>; readonly cwd?: string },
): Running {
  const log = openSync(options.log, 'a')
  const child = spawn('setpriv', ['--pdeathsig', 'TERM', 'taskset', '-c', cores, ...command], {
    stdio: ['ignore', log, log],
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...options.env },
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  })
  const pids = () => withDescendants(child.pid ?? 0)
  return {
    child,
    pids,
    async stop() {
      if (hasEnded(child)) return
      const exit = once(child, 'exit')
      child.kill('SIGTERM')
      const isLate = await Promise.race([exit.then(() => false), delay(STOP_MS_MAX, true)])
      if (!isLate) return
      for (const pid of pids()) process.kill(pid, 'SIGKILL')
      await exit
    },
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

/** Waits until a process listens on the port. */
export async function whenListening(port: number, running: Running, log: string): Promise<void> {
  const deadlineMs = performance.now() + START_MS_MAX
  while (!(await isListening(port))) {
    if (hasEnded(running.child) || performance.now() > deadlineMs) {
      throw new Error(`nobody listens on ${port}:\n${readFileSync(log, 'utf8').slice(-2_000)}`)
    }
    await delay(50)
  }
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true))
    socket.once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}

export function withDescendants(root: number): number[] {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc').filter((one) => /^\d+$/.test(one))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
      const parent = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]
      parents.set(Number(name), Number(parent))
    } catch {
      // The process ended meanwhile.
    }
  }
  const found = [root]
  for (const one of found) {
    for (const [pid, parent] of parents) if (parent === one) found.push(pid)
  }
  return found
}

/** Bytes of memory in use by these processes; one that has ended uses none. */
export function residentBytes(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const file = `/proc/${pid}/status`
    const status = existsSync(file) ? readFileSync(file, 'utf8') : ''
    return sum + Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1_024
  }, 0)
}

/** Waits, for a limited time, until other processes leave the cores idle; returns how long. */
export async function whenQuiet(shareMax: number, limitMs: number): Promise<number> {
  const fromMs = performance.now()
  let before = coreTimes()
  while (performance.now() - fromMs < limitMs) {
    await delay(400)
    const now = coreTimes()
    const shares = now.map(({ busy, all }, i) => {
      const last = before[i] ?? { busy: 0, all: 0 }
      return (busy - last.busy) / Math.max(1, all - last.all)
    })
    if (Math.max(...shares) <= shareMax) break
    before = now
  }
  return performance.now() - fromMs
}

function coreTimes(): { busy: number; all: number }[] {
  const lines = readFileSync('/proc/stat', 'utf8').split('\n')
  return lines
    .filter((line) => /^cpu\d/.test(line))
    .map((line) => {
      const ticks = line.split(' ').slice(1, 9).map(Number)
      const all = ticks.reduce((sum, one) => sum + one, 0)
      return { all, busy: all - (ticks[3] ?? 0) - (ticks[4] ?? 0) }
    })
}

export type Load = {
  readonly mode: 'closed' | 'open' | 'streams'
  readonly port: number
  readonly files: RequestFiles
  readonly connections: number
  /** Requests a second in an open loop; otherwise, connections opened a second. */
  readonly rate: number
  /** Deltas that a stream must have. */
  readonly events?: number
  readonly warm: number
  readonly seconds: number
  /** Groups of processes whose CPU time is read at both ends of the window. */
  readonly watched: readonly (readonly number[])[]
  /** Called when the measured window begins. */
  onBegin?(): void
}

export type Loaded = {
  readonly cpuUs: readonly number[]
  readonly ownCpuUs: number
  /** Busy time of the relay's core, and of the others, for all processes. */
  readonly relayCoreUs: number
  readonly otherCoresUs: number
  readonly seconds: number
  readonly requests: number
  readonly events: number
  readonly errors: number
  /** Connections whose stream has sent an event. */
  readonly begun: number
  readonly p50Us: number
  readonly p99Us: number
  /** The first error, empty when there was none. */
  readonly error: string
}

/** Compiles stub and load into the folder. */
export async function compileTools(folder: string) {
  const compiler = await ensureProgram('gcc', ['gcc', 'libc6-dev'])
  const built = (name: string) => join(folder, name)
  for (const name of ['relay-stub', 'relay-load']) {
    const source = join(import.meta.dirname, `${name}.c`)
    await run(compiler, ['-O2', '-o', built(name), source])
  }
  return {
    async startStub(port: number): Promise<Running> {
      const log = built('stub.log')
      const stub = startOn(OTHER_CORES, [built('relay-stub'), String(port)], { log })
      await whenListening(port, stub, log)
      return stub
    },
    load: (load: Load) => runLoad(built('relay-load'), load),
  }
}

export type Tools = Awaited<ReturnType<typeof compileTools>>

async function runLoad(program: string, load: Load): Promise<Loaded> {
  const { mode, port, files, connections, rate, events = 0, warm, seconds, watched } = load
  const plan = [port, files.heads, files.body, connections, rate, events, warm, seconds]
  const groups = watched.map((pids) => pids.join(','))
  const child = spawn(
    'taskset',
    ['-c', OTHER_CORES, program, mode, ...plan.map(String), ...groups],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: (warm + seconds) * 1_000 + START_MS_MAX,
    },
  )
  let last = ''
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === 'begin') load.onBegin?.()
    else last = line
  }
  if (!hasEnded(child)) await once(child, 'exit')
  if (last === '') throw new Error(`the load generator ended with ${child.exitCode}`)
  return JSON.parse(last) as Loaded
}
