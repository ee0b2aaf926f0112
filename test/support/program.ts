// A program of ours as a child, from its first moment: tests read its log while it waits for
// something, send it signals, and start it with a listening socket that it inherits.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { onRoles } from '../../tools/program-roles.ts'
import { killAtExit } from './at-exit.ts'
import { childEnvironment } from './child-environment.ts'
import { sleep } from './drill.ts'

const root = join(import.meta.dirname, '../..')
/** A start takes two seconds; beside a build on two cores, ten. */
const SAID_MS_MAX = 90_000

type Line = { readonly msg: string } & Readonly<Record<string, unknown>>

export type RunningProgram = Awaited<ReturnType<typeof startProgram>>

export function startProgram(
  command: string,
  env: Readonly<Record<string, string>>,
  { socket, tree = root }: { readonly socket?: KeptSocket; readonly tree?: string } = {},
) {
  const argv = [...(socket?.prefix ?? []), process.execPath, join(tree, 'src/main.ts'), command]
  const child = spawn(argv[0] as string, argv.slice(1), {
    cwd: tree,
    env: onRoles(command, { ...childEnvironment, ...env }),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  killAtExit(child)
  const lines: Line[] = []
  const words: string[] = []
  for (const input of [child.stdout, child.stderr]) {
    createInterface({ input }).on('line', (text) => {
      if (text.startsWith('{')) lines.push(JSON.parse(text) as Line)
      else words.push(text)
    })
  }
  const isOver = () => child.exitCode !== null || child.signalCode !== null
  const find = (message: string) => lines.filter(({ msg }) => msg === message)
  return {
    pid: child.pid as number,
    /** What it printed that is not a line of the log. */
    printed: () => words.join('\n'),
    said: (message: string) => find(message).length,
    /** Waits for a line of its log, the first one or a later one. */
    async until(message: string, times = 1): Promise<Line> {
      const deadlineMs = performance.now() + SAID_MS_MAX
      while (find(message).length < times) {
        if (isOver() || performance.now() > deadlineMs) {
          const seen = lines.slice(-10).map((line) => JSON.stringify(line))
          throw new Error(`${command} never said "${message}": ${[...seen, ...words].join('\n')}`)
        }
        await sleep(10)
      }
      return find(message)[times - 1] as Line
    },
    isOver,
    signal: (name: NodeJS.Signals) => child.kill(name),
    /** Resolves with the exit code, or with the signal that ended it. */
    ended: () => endOf(child),
    async stop(name: NodeJS.Signals = 'SIGTERM') {
      if (!isOver()) child.kill(name)
      return endOf(child)
    },
  }
}

async function endOf(child: ChildProcess): Promise<number | string | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  return child.exitCode ?? child.signalCode
}

export type KeptSocket = Awaited<ReturnType<typeof keepSocket>>

/** A listening socket on a free port that stays open while programs come and go. */
export async function keepSocket() {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-socket-'))
  const script = join(import.meta.dirname, 'kept-socket.py')
  const path = join(folder, 'socket')
  const keeper = spawn('/usr/bin/python3', [script, 'keep', path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [printed] = await once(keeper.stdout, 'data')
  return {
    port: Number(String(printed)),
    /** Words before a command, which then inherits the socket. */
    prefix: ['/usr/bin/python3', script, 'run', path],
    async close(): Promise<void> {
      keeper.kill()
      await endOf(keeper)
      await rm(folder, { recursive: true })
    },
  }
}
