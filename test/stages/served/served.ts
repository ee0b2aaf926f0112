// Our program as a separate process, started from the command line; keeps everything it prints.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { onRoles } from '../../../tools/program-roles.ts'
import { killAtExit } from '../../support/at-exit.ts'
import { childEnvironment } from '../../support/child-environment.ts'

const MAIN = join(import.meta.dirname, '../../../src/main.ts')
/** A start takes two seconds; on two cores that twenty programs share, fifty times that. */
const READY_MS = 180_000
const STOP_MS = 20_000

export type Served = {
  readonly child: ChildProcess
  /** Everything it has printed to stdout and stderr. */
  printed(): string
  stop(): Promise<void>
}

/** Resolves when it has printed something that matches; kills it and fails when it does not. */
export async function startServed(
  command: 'serve' | 'work' | 'cabinet',
  env: Readonly<Record<string, string>>,
  ready: RegExp,
): Promise<Served> {
  const child = spawn(process.execPath, [MAIN, command], {
    env: onRoles(command, { ...childEnvironment, ...env }),
    cwd: join(import.meta.dirname, '../../..'),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  killAtExit(child)
  const chunks: string[] = []
  const printed = () => chunks.join('')
  const isReady = Promise.withResolvers<void>()
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (bytes: Buffer) => {
      chunks.push(bytes.toString('utf8'))
      if (ready.test(printed())) isReady.resolve()
    })
  }
  child.once('exit', () => isReady.reject(new Error(`${command} ended: ${printed()}`)))
  const timer = setTimeout(() => {
    isReady.reject(new Error(`${command} is not ready: ${printed()}`))
    child.kill('SIGKILL')
  }, READY_MS)
  await isReady.promise.finally(() => clearTimeout(timer))
  return {
    child,
    printed,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      const force = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
      child.kill('SIGTERM')
      await ended
      clearTimeout(force)
    },
  }
}
