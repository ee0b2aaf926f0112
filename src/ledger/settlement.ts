// Settling: each hold is charged once, and a reply may end only when its charge is in the database
// or on disk. A settle that the database does not take in time goes to the spool, and stays in the
// batcher until it commits. A settle that the database refuses goes to a file of its own, from
// which spool/refused-retry.ts sends it again.
import { Fault } from '../platform/assert.ts'
import type { Clock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import type { Credits } from '../units/credits.ts'
import type { Batcher } from './batch/batch.ts'
import type { SettleAsk, SettleReply } from './calls.ts'
import { settleVerb } from './calls.ts'
import type { RefusedFiles } from './spool/refused.ts'
import { askOf, textOf } from './spool/settle-text.ts'
import type { Spool, Ticket } from './spool/spool.ts'

/** Two lines of a terminal; the log has the whole error. */
const REASON_LENGTH_MAX = 160

/** What a settle did. While it is only on disk, the amount is not known yet. */
export type Settled =
  | {
      readonly isSpooled: false
      readonly amount: Credits
      readonly writtenOff: Credits
      readonly available: Credits
    }
  | { readonly isSpooled: true }

type Pending = {
  readonly ask: SettleAsk
  readonly sinceMs: number
  readonly waiter: PromiseWithResolvers<Settled>
  ticket: Ticket | undefined
  isSpooling: boolean
  /** Why the database refused it; from then on it is to be kept as refused. */
  refusal: string | undefined
  keeping: Promise<void> | undefined
}

export function createSettlement(options: {
  readonly batcher: Batcher
  readonly spool: Spool
  readonly refused: RefusedFiles
  readonly clock: Clock
  readonly log: Log
  readonly spoolAfterMs: number
}) {
  const { batcher, spool, refused, clock, log } = options
  const pending = new Set<Pending>()
  const state = { refusals: 0 }

  function submit(ask: SettleAsk, ticket: Ticket | undefined): Promise<Settled> {
    const one: Pending = {
      ask,
      sinceMs: clock.spanMs(),
      waiter: Promise.withResolvers<Settled>(),
      ticket,
      isSpooling: false,
      refusal: undefined,
      keeping: undefined,
    }
    pending.add(one)
    batcher.submit(settleVerb, ask).reply.then(
      (reply) => finish(one, reply),
      (error: unknown) => fail(one, error),
    )
    return one.waiter.promise
  }

  function finish(one: Pending, reply: SettleReply): void {
    if (reply.outcome !== 'settled') {
      fail(one, new Fault(`answered ${reply.outcome}`))
      return
    }
    forget(one)
    one.waiter.resolve({
      isSpooled: false,
      amount: reply.amount as Credits,
      writtenOff: (one.ask.priced - reply.amount) as Credits,
      available: reply.available as Credits,
    })
  }

  // Only a fault of ours or of the database refuses a settle, and the reply was generated: it ends
  // once the refused settle is on disk, because it is charged when the fault is repaired.
  function fail(one: Pending, error: unknown): void {
    log.fatal({ err: error, settle: textOf(one.ask) }, 'a settle was refused by the database')
    state.refusals += 1
    one.refusal = reasonOf(error)
    void keep(one)
  }

  /** Until the disk takes it, it stays here and in the spool, and `keepRefused` tries again. */
  function keep(one: Pending): Promise<void> {
    one.keeping ??= keepOnDisk(one).finally(() => {
      one.keeping = undefined
    })
    return one.keeping
  }

  async function keepOnDisk(one: Pending): Promise<void> {
    const { ask, refusal = '' } = one
    const wasWritable = refused.isWritable()
    const record = { hold: ask.id, settle: textOf(ask), reason: refusal, atMs: clock.nowMs() }
    try {
      await refused.keep(record)
    } catch (error) {
      if (wasWritable) log.error({ err: error }, 'a refused settle cannot be kept: admissions stop')
      return
    }
    forget(one)
    one.waiter.resolve({ isSpooled: true })
  }

  function unkept(): Pending[] {
    return [...pending].filter((one) => one.refusal !== undefined)
  }

  function forget(one: Pending): void {
    pending.delete(one)
    if (one.ticket === undefined) return
    spool.done(one.ticket).catch((error: unknown) => {
      log.error({ err: error }, 'a settle stays in the spool; it will be repeated')
    })
  }

  async function toSpool(one: Pending): Promise<void> {
    if (one.ticket !== undefined || one.isSpooling) return
    one.isSpooling = true
    try {
      one.ticket = await spool.append(textOf(one.ask))
      one.waiter.resolve({ isSpooled: true })
      // It committed, or was kept as refused, while it was being written.
      if (!pending.has(one)) await spool.done(one.ticket)
    } catch (error) {
      log.error({ err: error }, 'the spool is not writable: admissions stop')
    } finally {
      one.isSpooling = false
    }
  }

  return {
    /** Charges a hold. Resolves when the charge is durable; repeatable by id. */
    settle: (ask: SettleAsk): Promise<Settled> => submit(ask, undefined),

    /** Moves settles that have waited long enough to disk. */
    async spoolOverdue(): Promise<void> {
      const now = clock.spanMs()
      const late = [...pending].filter((one) => now - one.sinceMs >= options.spoolAfterMs)
      await Promise.all(late.map(toSpool))
    },

    /** Tries the disk again for refused settles that it has not taken. */
    async keepRefused(): Promise<void> {
      await Promise.all(unkept().map(keep))
    },

    /** Before the process ends: nothing may exist in memory only. */
    async spoolAll(): Promise<void> {
      await Promise.all(
        [...pending].map(async (one) => {
          if (one.refusal !== undefined) await keep(one)
          if (pending.has(one)) await toSpool(one)
        }),
      )
    },

    /** Takes over what processes that are gone have left behind. */
    async replayOrphans(): Promise<void> {
      const tickets = await spool.adopt()
      if (tickets.length > 0) log.info({ settles: tickets.length }, 'replaying an orphaned spool')
      for (const ticket of tickets) void submit(askOf(ticket.text), ticket)
    },

    /** For metrics: refused settles that wait, and how many were refused since the start. */
    refused: () => ({ waiting: refused.size() + unkept().length, total: state.refusals }),
  }
}

function reasonOf(error: unknown): string {
  const { code, message = '' } = error as { code?: unknown; message?: string }
  const text = typeof code === 'string' ? `${code} ${message}` : message
  return text.replace(/[^\x20-\x7e]/g, '?').slice(0, REASON_LENGTH_MAX)
}
