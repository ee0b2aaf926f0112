// The processes of a development run: started in groups of their own, what they print marked with
// their name, and ended together. A guard ends them when the one who started them was killed.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const root = join(import.meta.dirname, '..')
/** What a gateway may need to let its last replies end. Then it is killed. */
const STOP_MS = 8_000

export type Environment = Readonly<Record<string, string | undefined>>

export function createProcesses() {
  const running = new Map<string, ChildProcess>()
  const guard = spawn(process.execPath, [join(root, 'tools/dev-guard.ts')], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  guard.unref()

  /** Starts a file of ours and goes on; `onEnd` is told when it ends by itself. */
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
      // Ctrl-C reaches us alone, and a group can be ended as a whole: the watcher has a child.
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

  /** Runs a file of ours to its end and gives back what it printed. */
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

  /** Ends everything and waits until it is gone. */
  async function stop(): Promise<void> {
    const children = [...running.values()]
    // The watcher tells its child: one that heard it twice would not end in its own way.
    for (const child of children) child.kill('SIGTERM')
    await Promise.all(
      children.map(async (child) => {
        const force = setTimeout(() => signalGroup(child, 'SIGKILL'), STOP_MS)
        if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
        clearTimeout(force)
        // The watcher may be gone before its child.
        while (signalGroup(child, 0)) await new Promise((resolve) => setTimeout(resolve, 20))
      }),
    )
    guard.kill('SIGKILL')
  }

  return { start, run, stop }
}

/** False when nobody of the group is left. */
function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  if (pid === undefined) return false
  try {
    return process.kill(-pid, signal)
  } catch {
    return false
  }
}
