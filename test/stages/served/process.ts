// One process of ours as operators start it (`work`, `cabinet`, `serve`), for programs that kill
// it, flood it or wait for what it says. Its log goes to a file that tests read on demand: a full
// pipe would block the process.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onRoles } from '../../../tools/program-roles.ts'
import { killAtExit } from '../../support/at-exit.ts'
import { childEnvironment } from '../../support/child-environment.ts'
import { sleep } from '../../support/drill.ts'

const root = join(import.meta.dirname, '../../..')
/** A start takes two seconds; beside a build on two cores, ten. */
const READY_MS_MAX = 60_000
const STOP_MS_MAX = 20_000
/** How many lines an error message shows. */
const COMPLAINTS_MAX = 50

type Line = { readonly msg: string; readonly level: string } & Readonly<Record<string, unknown>>

const READY = {
  work: 'working',
  cabinet: 'serving the cabinet',
  serve: 'the fleet is ready',
} as const

export type PaymentProcess = {
  readonly pid: number
  /** The log line with which it reported that it is ready. */
  readonly ready: Readonly<Record<string, unknown>>
  /** How many lines of its log have this message. */
  said(message: string): number
  /** Its last lines of level error and above, and every line that is not a log line. */
  complaints(): readonly string[]
  isAlive(): boolean
  /** SIGKILL, and waits until it is gone. */
  kill(): Promise<void>
  /** SIGTERM, and waits until it is gone. */
  stop(): Promise<void>
}

/** Resolves when it logs that it is ready. */
export async function startPaymentProcess(
  command: keyof typeof READY,
  env: Readonly<Record<string, string>>,
): Promise<PaymentProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-log-'))
  const file = openSync(join(folder, 'log'), 'a+')
  const child = spawn(process.execPath, ['src/main.ts', command], {
    env: onRoles(command, { ...childEnvironment, ...env }),
    cwd: root,
    stdio: ['ignore', file, file],
  })
  // The open file stays readable, and is gone when it is closed.
  rmSync(folder, { recursive: true })
  killAtExit(child)
  const log = createLogReader(file, READY[command])
  const isAlive = () => child.exitCode === null && child.signalCode === null
  const end = async (signal: NodeJS.Signals) => {
    if (isAlive()) await endOf(child, signal)
    log.close()
  }

  const deadline = performance.now() + READY_MS_MAX
  while (log.ready() === undefined) {
    if (!isAlive() || performance.now() > deadline) {
      const complaints = log.complaints().join('\n')
      await end('SIGKILL')
      throw new Error(`${command} did not start: ${complaints}`)
    }
    await sleep(10)
  }
  return {
    pid: child.pid ?? 0,
    ready: log.ready() ?? {},
    said: log.said,
    complaints: log.complaints,
    isAlive,
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
  }
}

/** Counts lines and keeps few, so that a flood of a hundred thousand costs the watcher nothing. */
function createLogReader(file: number, readyMessage: string) {
  const counts = new Map<string, number>()
  const complaints: string[] = []
  const buffer = Buffer.alloc(1_048_576)
  const state: { ready?: Line; offset: number; rest: string; isClosed: boolean } = {
    offset: 0,
    rest: '',
    isClosed: false,
  }

  function take(text: string): void {
    const line = lineOf(text)
    if (line !== undefined) counts.set(line.msg, (counts.get(line.msg) ?? 0) + 1)
    if (line?.msg === readyMessage) state.ready ??= line
    if (line !== undefined && line.level !== 'error' && line.level !== 'fatal') return
    complaints.push(text)
    if (complaints.length > COMPLAINTS_MAX) complaints.shift()
  }

  function read(): void {
    while (!state.isClosed) {
      const bytes = readSync(file, buffer, 0, buffer.length, state.offset)
      if (bytes === 0) return
      state.offset += bytes
      const lines = (state.rest + buffer.toString('utf8', 0, bytes)).split('\n')
      state.rest = lines.pop() ?? ''
      for (const line of lines) take(line)
    }
  }

  return {
    ready() {
      read()
      return state.ready
    },
    said(message: string): number {
      read()
      return counts.get(message) ?? 0
    },
    complaints(): readonly string[] {
      read()
      return complaints
    },
    close(): void {
      if (state.isClosed) return
      read()
      state.isClosed = true
      closeSync(file)
    },
  }
}

function lineOf(text: string): Line | undefined {
  try {
    return JSON.parse(text) as Line
  } catch {
    return undefined // printed by Node itself: why it ended
  }
}

async function endOf(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const ended = once(child, 'exit')
  child.kill(signal)
  const force = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX)
  await ended
  clearTimeout(force)
}
