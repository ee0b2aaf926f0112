// The door of the ledger: what is owed to whom, append-only. A hold sets credits aside before a
// request is relayed; a settle charges exactly once, or a void gives everything back. A balance is
// never negative, under any concurrency, because the database decides each grant under the
// book's lock and refuses anything below zero. README.md has the meaning, sql/ the verbs.
import type pg from 'pg'
import { Fault } from '../platform/assert.ts'
import type { Clock } from '../platform/clock.ts'
import { isTransient } from '../platform/db/database-errors.ts'
import type { Db, Executor, Tx } from '../platform/db/db.ts'
import type { BookId, HoldId, InstanceId } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import { Refusal } from '../platform/refusal.ts'
import type { Price } from '../units/price.ts'
import { createBatcher } from './batch/batch.ts'
import { createConnection } from './batch/connection.ts'
import type { SettleAsk, VoidAsk } from './calls.ts'
import { voidVerb } from './calls.ts'
import { createHolding, OVERLOADED } from './holding.ts'
import * as postings from './postings.ts'
import * as queries from './queries.ts'
import { holdFind } from './request-queries.ts'
import { createSettlement } from './settlement.ts'
import { createRefusedFiles } from './spool/refused.ts'
import { createRefusedRetry } from './spool/refused-retry.ts'
import { createSpool } from './spool/spool.ts'
import { audit } from './upkeep/audit.ts'
import { detachEntriesBefore, dropHoldsBefore, makePartitions } from './upkeep/partitions.ts'
import { createSweeper } from './upkeep/sweep.ts'
import { instanceBeat } from './upkeep/upkeep.ts'
import { createRequestLog } from './usage/log.ts'
import { chargeFindFirst } from './usage/queries.ts'
import { createRollup } from './usage/rollup.ts'
import { createUsage } from './usage/usage.ts'
import { bookListStopped, bookListWatched } from './watch-queries.ts'

export type { Ending, HoldAsk, PaidEnding, SettleAsk, VoidAsk } from './calls.ts'
export type { BlockedReason, Book, Contra, Entry, EntryKind, Lot } from './queries.ts'
export type { RequestFacts } from './request-queries.ts'
export type { Settled } from './settlement.ts'
export type { RefusedList, RefusedSettle } from './spool/refused-retry.ts'
export type { ModelUsed } from './usage/tally.ts'
export type { UsedDay, UsedStep } from './usage/usage.ts'
export type { StoppedBook, WatchedBook } from './watch-queries.ts'

/** How often waiting operations are looked at for their time limits. */
const TICK_MS = 250
/** Twelve beats within the sixty seconds after which a silent process is taken for dead. */
const BEAT_MS = 5_000

export type LedgerOptions = {
  readonly db: Db
  /** Opens one connection with the ledger's session settings. */
  readonly connect: () => pg.Client
  readonly instance: InstanceId
  readonly role: string
  readonly clock: Clock
  readonly log: Log
  readonly connections: number
  readonly lanes: number
  readonly deadlineMs: number
  readonly holdSeconds: number
  readonly holdWaitMs: number
  readonly spoolDirectory: string
  readonly spoolAfterMs: number
}

/**
 * Session settings of ledger connections: one plan for all arrays, no compilation, and never a scan
 * of a whole table. A plan made while this week's partition of holds is still empty would scan it,
 * and be kept: after 47,000 holds a request cost PostgreSQL 590 us instead of 140, and rising.
 */
export const ledgerSession =
  '-c plan_cache_mode=force_generic_plan -c jit=off -c enable_seqscan=off'

export async function createLedger(options: LedgerOptions) {
  const { db, clock, log, instance } = options
  const open = () => createConnection({ open: options.connect, deadlineMs: options.deadlineMs })
  const batcher = createBatcher({
    connections: Array.from({ length: options.connections }, open),
    laneConnections: Array.from({ length: options.lanes }, open),
    clock,
    log,
  })
  const { spool, refused, isSpoolWritable } = await openSpoolDirectory(options)
  const settlement = createSettlement({ batcher, spool, refused, ...options })
  const retry = createRefusedRetry({ batcher, files: refused, ...options })
  const usage = { ...createUsage(db), ...createRequestLog(db) }
  const rollup = createRollup(options)
  const void_ = voidVerb(instance)
  const tariffs = new Map<string, Promise<number>>()
  const timers: NodeJS.Timeout[] = []

  /** Gives a hold back, free. Repeatable; an unknown id is closed for ever. */
  async function voidHold(ask: VoidAsk): Promise<{ outcome: 'voided' | 'settled' }> {
    const reason = printable(ask.reason, 200)
    const { outcome } = await batcher.submit(void_, { ...ask, reason }).reply
    if (outcome === 'voided' || outcome === 'settled') return { outcome }
    throw new Fault(`void of ${ask.id} in book ${ask.book} answered ${outcome}`)
  }

  const holding = createHolding({ batcher, isSpoolWritable, undo: voidHold, ...options })

  async function beat(): Promise<void> {
    await instanceBeat(db, instance, options.role).catch((error: unknown) => {
      log.warn({ err: error }, 'a heartbeat was not written')
    })
  }

  /** Refused ones first: a settle that is in the spool too is then kept once. */
  async function replayOrphans(): Promise<void> {
    await retry.adopt()
    await settlement.replayOrphans()
  }

  async function tick(): Promise<void> {
    holding.giveUp()
    await settlement.spoolOverdue()
    await settlement.keepRefused()
    retry.tick()
    if (!spool.isWritable()) await spool.probe()
  }

  return {
    instance,

    /** Announces this process, replays what dead ones left, and starts the clocks. */
    async start(): Promise<void> {
      await instanceBeat(db, instance, options.role)
      if (!(await spool.probe())) {
        log.error({ directory: options.spoolDirectory }, 'the spool is not writable: none admitted')
      }
      await replayOrphans()
      timers.push(
        setInterval(() => void tick(), TICK_MS),
        setInterval(() => void beat(), BEAT_MS),
        setInterval(() => void replayOrphans(), 30_000),
      )
    },

    /** Waits until nothing is under way, at most this long; the rest goes to the spool. */
    async stop(withinMs: number): Promise<void> {
      for (const timer of timers.splice(0)) clearInterval(timer)
      await Promise.race([
        batcher.idle(),
        new Promise((resolve) => setTimeout(resolve, withinMs).unref()),
      ])
      await settlement.spoolAll()
      await batcher.close()
      await refused.close()
      await spool.close()
    },

    /** A new, empty book of this cell. */
    open: (tx: Executor): Promise<BookId> => queries.bookInsert(tx),

    hold: holding.hold,
    settle: (ask: SettleAsk) => settlement.settle(clean(ask)),
    void: voidHold,

    credit: postings.credit,
    refund: postings.refund,
    reverseRefund: postings.reverseRefund,
    forceDebit: postings.forceDebit,
    adjust: postings.adjust,

    /** From this commit on, holds of the old fence are refused on every node. */
    async raiseFence(tx: Tx, book: BookId): Promise<bigint> {
      const fence = await queries.fenceRaise(tx, book)
      if (fence === null) throw new Refusal('book_unknown', 'There is no such account.', { book })
      return fence
    },

    /** Stops a book from the next hold on. The operator's word comes over the others. */
    block: queries.bookBlock,

    /**
     * Lifts that reason and no other; false when it was not in force. A stop of the owner's own
     * outlives the operator's, beneath which it waits, and may be lifted there.
     */
    resume: queries.bookResume,

    /** The owner's stop that an operator's has covered, or null. */
    stopBeneath: (book: BookId) => queries.stopFindBeneath(db, book),

    /** The owner's daily limit and velocity stop. */
    limit: queries.bookLimit,

    /**
     * The number a price is filed under; asked once per process, version and model. Refuses:
     * ledger_unavailable.
     */
    tariff(p: { catalogueVersion: number; model: string; price: Price }): Promise<number> {
      const key = `${p.catalogueVersion} ${p.model}`
      const known = tariffs.get(key)
      if (known !== undefined) return known
      const found = queries.tariffEnsure(db, p).catch((error: unknown) => {
        if (!isTransient(error)) throw error
        throw new Refusal('ledger_unavailable', OVERLOADED, { model: p.model }, error)
      })
      const asked = found.then((tariff) => {
        if (!tariff.isSame) throw new Fault(`catalogue ${key} is filed at another price`)
        return tariff.id
      })
      asked.catch(() => tariffs.delete(key))
      tariffs.set(key, asked)
      return asked
    },

    /** With a transaction, what it has done so far counts. */
    balance: (book: BookId, executor: Executor = db) => queries.bookFind(executor, book),
    balances: (books: readonly BookId[]) => queries.balanceList(db, books),
    lots: (book: BookId) => queries.lotList(db, book),
    firstChargeAt: (book: BookId) => chargeFindFirst(db, book),
    statement: (p: { book: BookId; beforeSeq: bigint | null; limit: number }) =>
      queries.entryList(db, p),

    /** What a book used when, by days of a time zone, and which requests it made. */
    usage,
    /** Adds up what is new, for the job; false when something was left for the next time. */
    addUp: rollup.round,
    addedUpLagSeconds: rollup.lagSeconds,
    /** What owners should hear of, for up to 256 books; and which are stopped for their speed. */
    watched: (books: readonly BookId[]) => bookListWatched(db, books),
    stopped: (max: number) => bookListStopped(db, max),
    /** What became of a request; undefined for an unknown one, and for one of months ago. */
    request: (id: HoldId) => holdFind(db, id),

    /** Findings of the audit; empty when all is well. */
    audit: (scope: 'new' | 'all') => audit(db, scope),
    /**
     * Settles that the database refused, in the spool directory of this machine and of no other;
     * `unseen` says why that directory tells nothing.
     */
    refused: retry.list,
    /** Gives a refused charge up, for an operator. A retry under way may still charge it. */
    removeRefused: refused.remove,
    makePartitions: () => makePartitions(db),
    detachEntriesBefore: (day: string) => detachEntriesBefore(db, day, rollup.round),
    dropHoldsBefore: () => dropHoldsBefore(db),
    sweeper: (deadSeconds: number) => createSweeper({ ...options, deadSeconds, voidHold }),

    /** For readiness and metrics. */
    health: () => ({
      isAway: batcher.isAway(),
      isSpoolWritable: isSpoolWritable(),
      spooled: spool.size(),
      refused: settlement.refused(),
    }),
  }
}

async function openSpoolDirectory({ spoolDirectory: directory, instance, log }: LedgerOptions) {
  const spool = await createSpool({ directory, owner: String(instance), log })
  const refused = await createRefusedFiles({ directory, owner: String(instance), log })
  return { spool, refused, isSpoolWritable: () => spool.isWritable() && refused.isWritable() }
}

export type Ledger = Awaited<ReturnType<typeof createLedger>>

/** Text from outside, fit for a column: one NUL would make the database refuse the whole array. */
function printable(text: string, lengthMax: number): string {
  return text.replace(/[^\x20-\x7e]/g, '?').slice(0, lengthMax)
}

function clean(ask: SettleAsk): SettleAsk {
  if (ask.messageId === null) return ask
  const messageId = printable(ask.messageId, 128)
  return messageId === ask.messageId ? ask : { ...ask, messageId }
}
