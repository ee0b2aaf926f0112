// Runs a command until it exits, and keeps what it printed. One that goes on instead is killed at
// the limit, and has no exit code.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { onRoles } from '../../tools/program-roles.ts'
import { childEnvironment } from './child-environment.ts'

const root = join(import.meta.dirname, '../..')
/** A start takes two seconds; beside a build on two cores, ten. */
const ENDED_MS_MAX = 60_000

type Environment = Readonly<Record<string, string | undefined>>
type Run = { readonly code: unknown; readonly out: string; readonly err: string }
type RunOptions = {
  readonly env: Environment
  readonly limitMs?: number
  /** Its standard input. */
  readonly input?: string
  readonly uid?: number
  readonly gid?: number
}

export function runToEnd(
  command: string,
  args: readonly string[],
  { limitMs = ENDED_MS_MAX, input = '', env, ...user }: RunOptions,
): Promise<Run> {
  const given = { cwd: root, timeout: limitMs, env: { ...childEnvironment, ...env }, ...user }
  return new Promise((resolve) => {
    const child = execFile(command, [...args], given, (error, out, err) =>
      resolve({ code: error === null ? 0 : error.code, out, err }),
    )
    child.stdin?.end(input)
  })
}

/** One of our programs, connected as its role: `op acts`, `migrate`. */
export function runProgram(args: readonly string[], options: RunOptions): Promise<Run> {
  const env = onRoles(args[0] ?? '', options.env)
  return runToEnd(process.execPath, [join(root, 'src/main.ts'), ...args], { ...options, env })
}
