// The entry file of the ledger: the balances of customers, as append-only entries. A hold sets
// credits aside before a request is relayed; a settle charges it exactly once, or a void gives it
// back. A balance is never negative, under any concurrency, because the database decides each grant
// under the book's lock and refuses anything below zero. README.md explains the terms and rules.
import { Fault } from '../platform/assert.ts'
import type { Clock } from '../platform/clock.ts'
import { isFromServer } from '../platform/db/database-errors.ts'
import type { Db, Executor, SessionClient, Tx } from '../platform/db/db.ts'
import type { LongReads } from '../platform/db/long-reads.ts'
import { isMissingGrant } from '../platform/db/missing-grants.ts'
import { UnfitDatabase } from '../platform/db/session.ts'
import type { BookId, InstanceId } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import { type Batcher, createBatcher } from './batch/batch.ts'
import { type Connection, createConnection } from './batch/connection.ts'
import type { SettleInput, VoidInput } from './calls.ts'
import { voidVerb } from './calls.ts'
import { createChargeLog } from './charge-log/charge-log.ts'
import { createHolding } from './holding.ts'
import { createPostingReads } from './posting-queries.ts'
import * as postings from './postings.ts'
import { printable } from './printable.ts'
import { createQuarantine } from './quarantine/quarantine.ts'
import { createQuarantineRule } from './quarantine/rule.ts'
import * as queries from './queries.ts'
import { postRefusal } from './refusals.ts'
import { createReplay } from './replay.ts'
import { createRequests } from './request-queries.ts'
import { backupAge } from './restore/queries.ts'
import { createRestore } from './restore/restore.ts'
import { createSettlement } from './settlement.ts'
import { createSpool } from './spool/spool.ts'
import { createStops } from './stops.ts'
import { createTariffs } from './tariffs.ts'
import { createTotals } from './totals/totals.ts'
import { createAudit } from './upkeep/audit.ts'
import { createDays } from './upkeep/days/days.ts'
import { createPartitions } from './upkeep/partitions.ts'
import { createSweeper } from './upkeep/sweep.ts'
import { instanceBeat, lostSpoolList, spoolClaimed } from './upkeep/upkeep.ts'
import { createDayCounts } from './usage/day-counts.ts'
import { createRequestLog } from './usage/log.ts'
import { chargeFindFirst } from './usage/queries.ts'
import { createRefused } from './usage/refused.ts'
import { createRollup } from './usage/rollup/rollup.ts'
import { createSessions } from './usage/sessions.ts'
import { unlistedList } from './usage/unlisted-queries.ts'
import { createUsage } from './usage/usage.ts'
import { bookListStatus, bookListStopped } from './watch-queries.ts'

export type { ChargeParts } from '../units/charge.ts'
export type { Ending, PaidEnding } from '../units/endings.ts'
export type { HoldInput, SettleInput, VoidInput } from './calls.ts'
export type { RequestDetails } from './details.ts'
export type { Posting } from './posting-queries.ts'
export type { QuarantineRow } from './quarantine/queries.ts'
export type { BlockedReason, Book, Contra, Entry, EntryKind, Lot } from './queries.ts'
export type { DayRefusalCode, HoldRefusalCode, PostRefusalCode } from './refusals.ts'
export type { Replayed } from './replay.ts'
export type { RequestFacts } from './request-queries.ts'
export type { Missing, MissingOfBook, RestoreScope } from './restore/restore.ts'
export type { Settled } from './settlement.ts'
export type { Tariff } from './tariff-queries.ts'
export type { StatedLot } from './totals/lot-states.ts'
export type { HourSum, PostingSum, RequestSum } from './totals/queries.ts'
export type { BalanceMeasure, RequestMeasure } from './totals/row-queries.ts'
export type { BookMovement } from './totals/totals.ts'
export type { Day } from './upkeep/days/day-queries.ts'
export type { LostSpool } from './upkeep/upkeep.ts'
export type { CountCertainty, DayCounts } from './usage/day-counts-queries.ts'
export type { UsageFigures } from './usage/figures.ts'
export type { RefusedOfBook, RefusedRequests } from './usage/refused-queries.ts'
export type { SessionKind } from './usage/session-queries.ts'
export type { SessionFigures, UsageAgent, UsageSession } from './usage/sessions.ts'
export type { UsageSplit } from './usage/sum-queries.ts'
export type { UnlistedUsage } from './usage/unlisted-queries.ts'
export type { UsageBucket, UsageDay, UsagePeriod, UsageSeries, UsageStep } from './usage/usage.ts'
export type { BookStatus, StoppedBook } from './watch-queries.ts'

/** How often the time limits of waiting operations are checked. */
const TICK_MS = 250
/**
 * Twelve heartbeats within the 60 seconds after which a silent process is considered dead. Counts
 * of refused requests are written as often.
 */
const BEAT_MS = 5_000

export type Keeper = { readonly db: Db; readonly connect: () => SessionClient }

export type LedgerOptions = {
  readonly db: Db
  /** The cell that the database must be. */
  readonly cell: number
  /** Opens one connection with the ledger's session settings. */
  readonly connect: () => SessionClient
  /**
   * The owner of the partitioned tables: a pool and a connection for the work on partitions and for
   * nothing else. Without it, `db` and `connect` are the owner's.
   */
  readonly keeper?: Keeper | undefined
  /** Reads of minutes, on connections of their own: on the primary, and on a standby if any. */
  readonly longReads: LongReads
  readonly standbyReads?: LongReads | undefined
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
  /** For how many days the charge log beside the spool is kept; 0: none is written. */
  readonly chargeLogDays: number
  /** Where old days of entries are exported; `none`: nowhere. */
  readonly exportDirectory: string
  /** For how many days sessions and labels are kept apart. */
  readonly sessionsKeptDays: number
}

/**
 * Session settings of ledger connections: one plan for all arrays, no JIT, no sequential scans. A
 * plan made while this week's partition of holds is empty would choose a sequential scan and stay
 * cached: after 47,000 holds a request took 590 µs in PostgreSQL instead of 140, and rising.
 */
export const ledgerSession = {
  plan_cache_mode: 'force_generic_plan',
  jit: 'off',
  enable_seqscan: 'off',
}

export async function createLedger(options: LedgerOptions) {
  const { db, log, instance, keeper = options } = options
  const openConnection = connectionsOf(options)
  const batcher = createBatcher({
    connections: Array.from({ length: options.connections }, openConnection),
    laneConnections: Array.from({ length: options.lanes }, openConnection),
    ...{ clock: options.clock, log },
  })
  const beatConnection = openConnection()
  const { spool, quarantine, settlement, replay, chargeLog } = await openSettlement(
    batcher,
    options,
  )
  const refused = createRefused(options)
  const sessions = createSessions(options)
  const usage = { ...createUsage(options), ...createRequestLog(db), refused, sessions }
  const rollup = createRollup(options)
  const void_ = voidVerb(instance)
  const timers: NodeJS.Timeout[] = []
  const self = { id: instance, role: options.role, spoolDirectory: options.spoolDirectory }

  /**
   * Ends a hold without a charge. Repeatable. An id that has no hold yet is closed too: a later
   * hold with it fails.
   */
  async function voidHold(input: VoidInput): Promise<{ outcome: 'voided' | 'settled' }> {
    const reason = printable(input.reason, 200)
    const { outcome } = await batcher.submit(void_, { ...input, reason }).result
    if (outcome === 'voided' || outcome === 'settled') return { outcome }
    throw new Fault(`void of ${input.id} in book ${input.book} answered ${outcome}`)
  }

  const { isWritable: isSpoolWritable } = spool
  const holding = createHolding({ batcher, isSpoolWritable, undo: voidHold, ...options })

  const heartbeat = createHeartbeat(() => instanceBeat(beatsOn(beatConnection), self), log)

  async function beat(): Promise<void> {
    void refused.flush()
    await heartbeat.beat()
  }

  async function tick(): Promise<void> {
    holding.giveUp()
    await settlement.tick()
    if (!spool.isWritable()) await spool.probe()
  }

  return {
    instance,

    /** Writes the first heartbeat, replays spool files of dead processes, and starts the timers. */
    async start(): Promise<void> {
      await instanceBeat(db, self)
      if (!(await spool.probe())) {
        log.error({ directory: options.spoolDirectory }, 'the spool is not writable: none admitted')
      }
      await replay.replayOrphans()
      timers.push(
        setInterval(() => void tick(), TICK_MS),
        setInterval(() => void beat(), BEAT_MS),
        setInterval(() => void replay.tick(), 30_000),
      )
    },

    /** Waits up to `withinMs` for operations in flight; remaining settles go to the spool. */
    async stop(withinMs: number): Promise<void> {
      const wasStarted = timers.length > 0
      for (const timer of timers.splice(0)) clearInterval(timer)
      await Promise.race([
        batcher.idle(),
        new Promise((resolve) => setTimeout(resolve, withinMs).unref()),
      ])
      await settlement.spoolAll()
      await refused.flush()
      await Promise.all([batcher.close(), beatConnection.close()])
      const hasSettles = spool.size() > 0
      await spool.close()
      await chargeLog.close()
      if (wasStarted && !hasSettles) await replay.report(String(instance)).catch(() => undefined)
    },

    /** Creates an empty book in this cell. */
    createBook: (tx: Executor): Promise<BookId> => queries.bookInsert(tx),

    hold: holding.hold,
    settle: (input: SettleInput) => settlement.settle(clean(input)),
    void: voidHold,

    ...{ credit: postings.credit, gift: postings.gift },
    refund: postings.refund,
    reverseRefund: postings.reverseRefund,
    ...{ forceDebit: postings.forceDebit, adjust: postings.adjust },
    /** Reads postings, for a comparison with what they were posted for. */
    postings: createPostingReads(db),

    /** Once the transaction commits, every node refuses holds with the old fence. */
    async raiseFence(tx: Tx, book: BookId): Promise<bigint> {
      const fence = await queries.fenceRaise(tx, book)
      if (fence === null) throw postRefusal('book_unknown', 'There is no such account.', { book })
      // Before its commit: after a rollback the line only makes a restore revoke one key more.
      chargeLog.fenceRaised(book, fence)
      return fence
    },

    /** Sets the owner's daily limit and velocity limit; null removes a limit. */
    setLimits: queries.bookSetLimits,

    ...createTariffs({ ...options, onKnown: chargeLog.tariffsKnown }),
    ...{ ...createStops(options), ...createRequests(options) },

    ...createReads(db),

    /** Usage by hours, days or weeks of a time zone, sessions, the log, refused requests. */
    usage,
    /** Adds new entries to the usage sums; false when some were left for the next run. */
    aggregateUsage: rollup.aggregate,
    aggregationLagSeconds: rollup.lagSeconds,
    /** Removes the sums of sessions and labels that are no longer kept. */
    removeOldSessions: rollup.removeOldSessions,
    /** What all requests of a day (UTC) used, for the comparison with the vendor's bill. */
    ...createDayCounts(options),
    /** Totals over all books, for reports. */
    totals: createTotals(options),

    /** The audit's findings; empty when every rule holds. */
    audit: createAudit(options),
    /** Settles that the database refused. */
    quarantine,
    /** Spools of lost processes that no process has claimed yet. */
    lostSpools: () => lostSpoolList(db),
    /** An operator has made sure that nothing is left of this spool. */
    forgetSpool: (lost: InstanceId) => replay.report(String(lost)),
    replayDirectory: replay.replayDirectory,
    /** After the database was restored to an earlier moment: what it lacks, and its repair. */
    restore: createRestore({ ...options, settlement, replay, quarantine }),
    ...createPartitions({ ...options, keeper: keeper.db }),
    /** Old days of entries: takes them out of the ledger, exports and restores them. */
    days: createDays({ ...options, keeper, aggregateUsage: rollup.aggregate }),
    sweeper: (deadSeconds: number) =>
      createSweeper({ ...options, keeper: keeper.db, deadSeconds, voidHold }),

    /** For readiness and metrics. */
    health: () => ({
      isUnavailable: isUnavailable(batcher, heartbeat.last()),
      isSpoolWritable: spool.isWritable(),
      spooled: spool.size() + spool.left(),
      refused: settlement.refused(),
      logLinesLost: chargeLog.lost(),
    }),
  }
}

function createReads(db: Db) {
  return {
    /** With a transaction as executor, its own uncommitted changes are included. */
    balance: (book: BookId, executor: Executor = db) => queries.bookFind(executor, book),
    balances: (books: readonly BookId[]) => queries.balanceList(db, books),
    lots: (book: BookId, executor: Executor = db) => queries.lotList(executor, book),
    firstChargeAt: (book: BookId) => chargeFindFirst(db, book),
    statement: (p: { book: BookId; beforeSeq: bigint | null; limit: number }) =>
      queries.entryList(db, p),
    /** Usage that replies of the last days reported and the catalogue does not list. */
    unlistedUsage: (days: number) => unlistedList(db, days),
    /** For guards: the status of up to 256 books, and the books that spent too fast. */
    listStatus: (books: readonly BookId[]) => bookListStatus(db, books),
    listStopped: (max: number) => bookListStopped(db, max),
    /** Seconds since the last backup, and since WAL was last archived; -1: never. */
    backupAge: () => backupAge(db),
  }
}

type Heartbeat = 'none' | 'written' | 'lost'

function createHeartbeat(write: () => Promise<unknown>, log: Log) {
  const state: { last: Heartbeat; lacksGrant: boolean } = { last: 'none', lacksGrant: false }
  return {
    last: () => state.last,
    async beat(): Promise<void> {
      try {
        await write()
        state.last = 'written'
      } catch (error) {
        // An error that the server reports, such as a lock on this table, delays nothing else.
        state.last = isFromServer(error) ? 'none' : 'lost'
        // A beat comes every few seconds, and each would log the same missing grant.
        const isKnown = state.lacksGrant && isMissingGrant(error)
        state.lacksGrant = isMissingGrant(error)
        if (!isKnown) log.warn({ err: error }, 'a heartbeat was not written')
      }
    },
  }
}

/** Heartbeats tell a process without requests that the database is away, or is back. */
function isUnavailable(batcher: Batcher, heartbeat: Heartbeat): boolean {
  if (heartbeat === 'lost') return true
  const [waiting] = batcher.pending()
  return batcher.isUnavailable() && !(waiting === undefined && heartbeat === 'written')
}

/** Opens a connection that verifies its session and the cell before its first call. */
function connectionsOf(options: LedgerOptions): () => Connection {
  // Both statements are sent together: a connect takes one round trip more, and a call none.
  const verify = (client: SessionClient) =>
    Promise.all([client.verify(), requireCell(client, options.cell)])
  return () => createConnection({ open: options.connect, verify, deadlineMs: options.deadlineMs })
}

/** What sends settles and keeps those that do not commit. */
async function openSettlement(batcher: Batcher, options: LedgerOptions) {
  const { db, clock, log } = options
  const owner = String(options.instance)
  const spool = await createSpool({ directory: options.spoolDirectory, owner, log })
  const chargeLog = createChargeLog({
    ...{ directory: options.spoolDirectory, owner, days: options.chargeLogDays, clock, log },
  })
  const quarantine = createQuarantine({ ...options, chargeLog })
  const hasSettledLately = () => queries.holdHasSettledLately(db)
  const rule = createQuarantineRule({ clock, hasSettledLately })
  const settlement = createSettlement({ batcher, spool, quarantine, chargeLog, rule, ...options })
  const report = (process: string) => spoolClaimed(db, process)
  const replay = { ...createReplay({ settlement, spool, owner, clock, log, report }), report }
  return { spool, quarantine, settlement, replay, chargeLog }
}

/**
 * Heartbeats use a connection of the ledger that carries nothing else: they are written while the
 * pool is in use, and while somebody locks their row, no hold and no settle waits behind them.
 */
function beatsOn(connection: Connection): Executor {
  return {
    async query(text, values = []) {
      return { rows: [await connection.run({ name: 'beat', text, values })] }
    },
  }
}

export type Ledger = Awaited<ReturnType<typeof createLedger>>

/**
 * Throws UnfitDatabase if the database is another cell. Ids of books get the number from the
 * database, ids of holds, keys and orders from the configuration: if the two differ, an id leads to
 * the wrong cell.
 */
export async function requireCell(executor: Executor, cell: number): Promise<void> {
  const found = await queries.cellFind(executor)
  if (found === cell) return
  throw new UnfitDatabase(
    `cell: the configuration says ${cell}, but the database is cell ${found}; correct cell or ` +
      'database.url (migrate numbers only a database that has no books)',
  )
}

/** Gives a database without books its number, or throws UnfitDatabase; true if it changed. */
export async function claimCell(db: Db, cell: number): Promise<boolean> {
  if ((await queries.cellFind(db)) === cell) return false
  await db.transaction((tx) => queries.cellSet(tx, cell))
  await requireCell(db, cell)
  return true
}

function clean(input: SettleInput): SettleInput {
  if (input.messageId === null) return input
  const messageId = printable(input.messageId, 128)
  return messageId === input.messageId ? input : { ...input, messageId }
}
