// A program of the cluster as a child of this process: its log in a file, SIGKILL and SIGSTOP of it
// and of everything that it started, and a start again. Nothing started here outlives this process.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { killAtExit } from '../../support/at-exit.ts'

export type Started = ReturnType<typeof createProcess>

type Options = {
  readonly command: readonly string[]
  readonly log: string
  readonly env?: Readonly<Record<string, string>>
  readonly cwd: string
  /** The user that runs it; by default the user of this process. */
  readonly user?: string
}

/**
 * The nodes would have machines of their own. Here they share two cores with hundreds of clients,
 * who must not delay Patroni's lease: `nice` goes on without where a container forbids it.
 */
export const CLUSTER_NICENESS = -10

/** Made but not started. */
export function createProcess({ command, log, env = {}, cwd, user }: Options) {
  let child: ChildProcess | undefined
  const isRunning = () =>
    child !== undefined && child.exitCode === null && child.signalCode === null
  const signal = (name: NodeJS.Signals) => {
    if (isRunning()) child?.kill(name)
  }
  return {
    isRunning,
    signal,
    pid: () => (isRunning() ? (child?.pid ?? 0) : 0),
    start(): void {
      const file = openSync(log, 'a')
      const as =
        user === undefined ? [] : ['--reuid', user, '--regid', user, '--init-groups', '--reset-env']
      const names = Object.entries(env).map(([name, value]) => `${name}=${value}`)
      // With --reset-env the environment comes after it.
      const line = [...as, '--pdeathsig', 'TERM', 'env', ...names, ...command]
      child = spawn('nice', ['-n', String(CLUSTER_NICENESS), 'setpriv', ...line], {
        cwd,
        env: { PATH: process.env.PATH ?? '' },
        stdio: ['ignore', file, file],
      })
      closeSync(file)
      killAtExit(child)
    },
    /** Sends the signal and waits until it has gone. */
    async end(name: NodeJS.Signals): Promise<void> {
      if (child === undefined || !isRunning()) return
      const exited = once(child, 'exit')
      child.kill(name)
      await exited
    },
  }
}

/** A process and all that it started, the oldest first. */
export function familyOf(pid: number): number[] {
  if (pid === 0) return []
  const children = new Map<number, number[]>()
  for (const name of readdirSync('/proc')) {
    const parent = parentOf(name)
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(name)])
  }
  const family = [pid]
  for (let i = 0; i < family.length; i++) family.push(...(children.get(family[i] ?? 0) ?? []))
  return family
}

function parentOf(name: string): number | undefined {
  if (!/^\d+$/.test(name)) return undefined
  try {
    // The second field is the name in brackets, which may contain spaces.
    const fields = readFileSync(`/proc/${name}/stat`, 'utf8').replace(/^.*\) /, '')
    return Number(fields.split(' ')[1])
  } catch {
    return undefined // it has gone meanwhile
  }
}

export function signalAll(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name)
    } catch {
      // It has gone meanwhile.
    }
  }
}

/**
 * Ports that stay free while their server is down: below the range from which Linux takes the ports
 * of outgoing connections.
 */
export async function reservedPorts(count: number): Promise<number[]> {
  const found: number[] = []
  for (let tries = 0; found.length < count && tries < 10_000; tries++) {
    const port = 12_000 + Math.floor(Math.random() * 20_000)
    if (!found.includes(port) && (await isFree(port))) found.push(port)
  }
  return found
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  server.listen(port, '127.0.0.1')
  const isListening = await Promise.race([
    once(server, 'listening').then(() => true),
    once(server, 'error').then(() => false),
  ]).catch(() => false)
  if (!isListening) return false
  server.close()
  await once(server, 'close')
  return true
}
