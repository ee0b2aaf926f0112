// Settling: each hold is charged once, and a reply may end only when its charge is in the database
// or in the spool. A settle that the database does not take in time goes to disk, its caller goes
// on, and the settle stays in the batcher until it commits, however long that takes.
import { Fault } from '../platform/assert.ts'
import type { Clock } from '../platform/clock.ts'
import type { BookId, HoldId } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import { type Listed, NOWHERE, Roster } from '../platform/roster.ts'
import type { Credits } from '../units/credits.ts'
import { tokens } from '../units/tokens.ts'
import type { Batcher } from './batch.ts'
import type { PaidEnding, SettleAsk, SettleReply } from './calls.ts'
import { settleVerb } from './calls.ts'
import type { Spool, Ticket } from './spool.ts'

/** What a settle did. From the spool nothing is known yet but that it will be charged. */
export type Settled =
  | {
      readonly isSpooled: false
      readonly amount: Credits
      readonly writtenOff: Credits
      readonly available: Credits
    }
  | { readonly isSpooled: true }

type Pending = Listed & {
  readonly ask: SettleAsk
  readonly sinceMs: number
  readonly waiter: PromiseWithResolvers<Settled>
  ticket: Ticket | undefined
  isSpooling: boolean
}

export function createSettlement(options: {
  readonly batcher: Batcher
  readonly spool: Spool
  readonly clock: Clock
  readonly log: Log
  readonly spoolAfterMs: number
}) {
  const { batcher, spool, clock, log } = options
  const pending = new Roster<Pending>()

  function submit(ask: SettleAsk, ticket: Ticket | undefined): Promise<Settled> {
    const one: Pending = {
      place: NOWHERE,
      ask,
      sinceMs: clock.spanMs(),
      waiter: Promise.withResolvers<Settled>(),
      ticket,
      isSpooling: false,
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
      fail(one, new Fault(`settle of ${one.ask.id} answered ${reply.outcome}`))
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

  // A settle that can never commit is a bug; the log keeps all of it, and the spool lets it go, or
  // every restart would meet it again.
  function fail(one: Pending, error: unknown): void {
    log.fatal({ err: error, settle: textOf(one.ask) }, 'a settle was refused by the database')
    forget(one)
    one.waiter.reject(error)
  }

  function forget(one: Pending): void {
    pending.remove(one)
    if (one.ticket === undefined) return
    spool.done(one.ticket).catch((error: unknown) => {
      log.error({ err: error }, 'a committed settle stays in the spool; it will be repeated')
    })
  }

  async function toSpool(one: Pending): Promise<void> {
    if (one.ticket !== undefined || one.isSpooling) return
    one.isSpooling = true
    try {
      one.ticket = await spool.append(textOf(one.ask))
      one.waiter.resolve({ isSpooled: true })
      // It committed while it was being written.
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
      const late = pending.list().filter((one) => now - one.sinceMs >= options.spoolAfterMs)
      await Promise.all(late.map(toSpool))
    },

    /** Before the process ends: nothing may exist in memory only. */
    async spoolAll(): Promise<void> {
      await Promise.all(pending.list().map(toSpool))
    },

    /** Takes over what processes that are gone have left behind. */
    async replayOrphans(): Promise<void> {
      const tickets = await spool.adopt()
      if (tickets.length > 0) log.info({ settles: tickets.length }, 'replaying an orphaned spool')
      for (const ticket of tickets) {
        submit(askOf(ticket.text), ticket).catch(() => undefined) // logged by fail()
      }
    },
  }
}

function textOf(ask: SettleAsk): string {
  const c = ask.counts
  return JSON.stringify([
    ask.id,
    String(ask.book),
    [c.input, c.output, c.cacheRead, c.cacheWrite5m, c.cacheWrite1h].map(String),
    String(ask.priced),
    ask.ending,
    ask.isEstimated,
    ask.messageId,
  ])
}

function askOf(text: string): SettleAsk {
  const [id, book, counts, priced, ending, isEstimated, messageId] = JSON.parse(text) as [
    HoldId,
    string,
    string[],
    string,
    PaidEnding,
    boolean,
    string | null,
  ]
  const count = (i: number) => tokens(BigInt(counts[i] ?? '0'))
  return {
    id,
    book: BigInt(book) as BookId,
    counts: {
      input: count(0),
      output: count(1),
      cacheRead: count(2),
      cacheWrite5m: count(3),
      cacheWrite1h: count(4),
    },
    priced: BigInt(priced) as Credits,
    ending,
    isEstimated,
    messageId,
  }
}
