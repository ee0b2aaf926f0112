// The parent's side of process.ts: starts a gateway in its own process and asks it for accounts and
// for its memory. `end` ends the process, or kills it when it does not answer.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { openDatabase } from '../../../src/platform/db/db.ts'
import { settingsOf } from '../../support/harness.ts'

export type GatewayCommand =
  | { readonly verb: 'account'; readonly credits: number }
  /** Collects garbage and resets the peak. */
  | { readonly verb: 'forget' }
  | { readonly verb: 'peak' }
  | { readonly verb: 'end' }
export type GatewayReport = Record<string, string | number>
type Answer = { readonly number: number; readonly report?: GatewayReport; readonly error?: string }

/** Bytes: the resident set, and the part outside the heap. */
export type Memory = { readonly rss: number; readonly external: number }

export type GatewayChild = Awaited<ReturnType<typeof startGatewayChild>>

/** A start takes a second or two; a machine that needs longer than this cannot measure anything. */
const START_MS_MAX = 60_000

export async function startGatewayChild(upstreamUrl: string) {
  const file = join(import.meta.dirname, 'process.ts')
  const child = fork(file, [upstreamUrl], { execArgv: ['--expose-gc'] })
  const waiting = new Map<number, PromiseWithResolvers<GatewayReport>>()
  let number = 0

  const answerTo = (of: number) => {
    const waiter = Promise.withResolvers<GatewayReport>()
    waiting.set(of, waiter)
    return waiter.promise
  }
  child.on('message', (answer: Answer) => {
    const waiter = waiting.get(answer.number)
    waiting.delete(answer.number)
    if (answer.report !== undefined) waiter?.resolve(answer.report)
    else waiter?.reject(new Error(answer.error))
  })
  child.on('exit', (code, signal) => {
    for (const waiter of waiting.values()) {
      waiter.reject(new Error(`the gateway's process ended: ${code ?? signal}`))
    }
  })
  const order = (what: GatewayCommand) => {
    number += 1
    const answer = answerTo(number)
    child.send({ ...what, number })
    return answer
  }

  const timer = setTimeout(() => child.kill(), START_MS_MAX)
  const { url, databaseUrl } = await answerTo(0)
  clearTimeout(timer)
  const db = openDatabase(settingsOf(String(databaseUrl)), 'parent', () => undefined)
  return {
    url: String(url),
    db,
    async account(credits: number): Promise<{ book: bigint; key: string }> {
      const { book, key } = await order({ verb: 'account', credits })
      return { book: BigInt(book ?? 0), key: String(key) }
    },
    forget: (): Promise<Memory> => order({ verb: 'forget' }) as Promise<Memory & GatewayReport>,
    peak: (): Promise<Memory> => order({ verb: 'peak' }) as Promise<Memory & GatewayReport>,
    async end(): Promise<void> {
      await db.end()
      const ended = once(child, 'exit')
      const timer = setTimeout(() => child.kill('SIGKILL'), 10_000)
      await order({ verb: 'end' })
      await ended
      clearTimeout(timer)
    },
  }
}
