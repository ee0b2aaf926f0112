// Runs one foreign program with a clean environment and a limit on its time, and ends whatever it
// leaves behind. Shared by the forms of `npm run compat` that try agents and other languages.
import { spawn } from 'node:child_process'
import { dirname } from 'node:path'

// The slowest agent needs four seconds; a program that waits for a person needs for ever.
export const RUN_MS_MAX = 90_000

export type Run = {
  /** Null when it was ended by a signal, or could not be started. */
  readonly code: number | null
  readonly out: string
  readonly err: string
  readonly ms: number
}

export type Command = {
  readonly program: string
  readonly parameters: readonly string[]
  readonly cwd?: string
  /** The whole environment: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>
  readonly msMax: number
}

export function run({ program, parameters, cwd, env, msMax }: Command): Promise<Run> {
  const startedMs = performance.now()
  return new Promise((resolve) => {
    // A group of its own, so that its children can be ended with it.
    const child = spawn(program, parameters, {
      ...(cwd === undefined ? {} : { cwd }),
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    const text = { out: '', err: '' }
    child.stdout.setEncoding('utf8').on('data', (piece: string) => {
      text.out += piece
    })
    child.stderr.setEncoding('utf8').on('data', (piece: string) => {
      text.err += piece
    })
    const end = () => endGroup(child.pid)
    const timer = setTimeout(end, msMax)
    const over = (code: number | null) => {
      clearTimeout(timer)
      end()
      resolve({ code, ...text, ms: Math.round(performance.now() - startedMs) })
    }
    child.once('error', (error) => {
      text.err += error.message
      over(null)
    })
    child.once('exit', (code) => over(code))
  })
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // No process of the group is left.
  }
}

/** Only this machine can be reached: all other requests go to a proxy that does not exist. */
export function cleanEnvironment(home: string): Record<string, string> {
  return {
    PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
    HOME: home,
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    CI: '1',
    HTTP_PROXY: 'http://127.0.0.1:9',
    HTTPS_PROXY: 'http://127.0.0.1:9',
    NO_PROXY: '127.0.0.1,localhost',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
    DISABLE_AUTOUPDATER: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DO_NOT_TRACK: '1',
  }
}

export function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.slice(0, 300) ?? ''
}
