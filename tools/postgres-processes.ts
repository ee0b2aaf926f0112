// Finds and ends the processes of a private PostgreSQL by its cluster name. Used by the process
// that started it and, if that one has died, by the guard.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

// A fast shutdown writes out shared_buffers: 256 MB are 15 s on a disk of 17 MB/s.
const SHUTDOWN_MS_MAX = 15_000
const POLL_MS = 20

/** The postmaster has the name in its arguments, its children have it in their title. */
export function clusterPids(name: string): number[] {
  return processes()
    .filter(({ command }) => /postgres/.test(command))
    .filter(({ command }) =>
      ['cluster_name=', 'postgres: '].some((s) => command.includes(s + name)),
    )
    .map(({ pid }) => pid)
}

/** Sends a signal to each process that still exists. */
export function signalAll(pids: number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal)
    } catch (error) {
      if (!isGone(error)) throw error
    }
  }
}

/** Stops a cluster, by fast shutdown if its postmaster lives, and waits for all its processes. */
export async function endCluster(name: string, postmaster: number | undefined): Promise<void> {
  if (postmaster !== undefined) {
    // A frozen server reacts to no other signal.
    signalAll(clusterPids(name), 'SIGCONT')
    signalAll([postmaster], 'SIGINT')
    if (await whenGone(name)) return
  }
  signalAll(clusterPids(name), 'SIGKILL')
  if (!(await whenGone(name))) throw new Error(`the PostgreSQL named ${name} does not end`)
}

async function whenGone(name: string): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < SHUTDOWN_MS_MAX; waitedMs += POLL_MS) {
    if (clusterPids(name).length === 0) return true
    await delay(POLL_MS)
  }
  return false
}

type Process = { pid: number; command: string }

// Linux has /proc; `ps` is missing from slim images.
function processes(): Process[] {
  if (existsSync('/proc/self/cmdline')) {
    return readdirSync('/proc')
      .filter((entry) => /^\d+$/.test(entry))
      .map((entry) => ({ pid: Number(entry), command: commandOf(entry) }))
  }
  return execFileSync('ps', ['-A', '-o', 'pid=,command='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => ({ pid: Number.parseInt(line, 10), command: line }))
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch (error) {
    if (isGone(error)) return ''
    throw error
  }
}

function isGone(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'ESRCH' || code === 'ENOENT'
}
