// The processes of a development run: each starts in its own process group, its output lines begin
// with its name, and all end together. A guard ends them if this process is killed.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const root = join(import.meta.dirname, '..')
/** How long a gateway may take for its last replies before it is killed. */
const STOP_MS = 8_000

export type Environment = Readonly<Record<string, string | undefined>>

export function createProcesses() {
  const running = new Map<string, ChildProcess>()
  const guard = spawn(process.execPath, [join(root, 'tools/dev-guard.ts')], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  guard.unref()

  /** Starts a file of ours without waiting; calls `onEnd` when it ends by itself. */
  function start(
    name: string,
    parameters: readonly string[],
    env: Environment,
    onEnd: (what: string) => void,
  ): void {
    const child = spawn(process.execPath, parameters, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      // Its own group: Ctrl-C reaches only us, and we can end the watcher and its child together.
      detached: true,
    })
    running.set(name, child)
    guard.stdin?.write(`${child.pid}\n`)
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        console.log(`${name.padEnd(8)} ${line}`)
      })
    }
    child.once('exit', (code, signal) => {
      running.delete(name)
      onEnd(`${name} ended (${signal ?? code})`)
    })
  }

  /** Runs a file of ours to its end and returns what it printed. */
  async function run(parameters: readonly string[], env: Environment): Promise<string> {
    const child = spawn(process.execPath, parameters, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true,
    })
    const name = parameters.join(' ')
    running.set(name, child)
    guard.stdin?.write(`${child.pid}\n`)
    const chunks: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
    const [code] = await once(child, 'close')
    running.delete(name)
    const printed = Buffer.concat(chunks).toString('utf8').trim()
    if (code !== 0) throw new Error(`${name} failed: ${printed}`)
    return printed
  }

  /** Ends all processes and waits until they have exited. */
  async function stop(): Promise<void> {
    const children = [...running.values()]
    // The watcher passes the signal on; a child that gets it twice would not shut down cleanly.
    for (const child of children) child.kill('SIGTERM')
    await Promise.all(
      children.map(async (child) => {
        const force = setTimeout(() => signalGroup(child, 'SIGKILL'), STOP_MS)
        if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
        clearTimeout(force)
        // The watcher may exit before its child.
        while (signalGroup(child, 0)) await new Promise((resolve) => setTimeout(resolve, 20))
      }),
    )
    guard.kill('SIGKILL')
  }

  return { start, run, stop }
}

/** False when the group has no process left. */
function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  if (pid === undefined) return false
  try {
    return process.kill(-pid, signal)
  } catch {
    return false
  }
}
