// The quarantine: settles that the database refuses, in a table. A worker sends each again every
// ten minutes and after every migration. A settle leaves when it is charged or when an operator
// writes it off; its row stays, closed, as the record of that.
import type { Db } from '../../platform/db/db.ts'
import type { BookId, HoldId, InstanceId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import type { Credits } from '../../units/credits.ts'
import type { SettleInput } from '../calls.ts'
import type { ChargeLog } from '../charge-log/charge-log.ts'
import { reasonOf } from '../printable.ts'
import { settleFromText, settleKeyText } from '../settle-text.ts'
import type { QuarantineKey, QuarantineRow } from './queries.ts'
import * as queries from './queries.ts'

/** After a repair, settles are charged within this time without an operator. */
const RETRY_SECONDS = 600
/** Settles sent by one run of the job or one command: 5 ms each, well within the job's minute. */
const RETRIES_MAX = 1_000
/** Locked books that one run meets: each takes 0.25 s, the lock timeout. */
const LOCKED_BOOKS_MAX = 100

export type Quarantine = ReturnType<typeof createQuarantine>

/** `outcome`: `charged`, or why not. `charged`: null if it was not. */
export type Retried = { readonly outcome: string; readonly charged: Credits | null }

export function createQuarantine(options: {
  readonly db: Db
  readonly log: Log
  readonly instance: InstanceId
  readonly chargeLog: Pick<ChargeLog, 'writtenOff'>
}) {
  const { db, log, instance, chargeLog } = options

  /** Rejects while the database is unavailable. */
  async function retryOne(row: QuarantineRow): Promise<Retried> {
    const { outcome, amount } = await settleOne(row)
    if (outcome === 'settled') {
      // A hold that was swept meanwhile is charged what the customer still has.
      const writtenOff = row.priced - (amount ?? 0n)
      const sums = { charged: String(amount), writtenOff: String(writtenOff) }
      log.info({ settle: row.settle, ...sums }, 'a settle left the quarantine: it is charged')
      return { outcome: 'charged', charged: amount }
    }
    // After `busy`, the next run finds the book unlocked.
    if (outcome !== 'busy') await queries.quarantineTried(db, { ...row, reason: outcome })
    return { outcome, charged: null }
  }

  /** An error, too, is an outcome: it may be about this settle alone, and others wait. */
  function settleOne(row: QuarantineKey): Promise<{ outcome: string; amount: Credits | null }> {
    return db
      .transaction(async (tx) => {
        if (!(await queries.quarantineLock(tx, row))) return { outcome: 'busy', amount: null }
        const { outcome, amount } = await queries.quarantineSettle(tx, settleFromText(row.settle))
        if (outcome === 'settled') await queries.quarantineClose(tx, { ...row, outcome: 'charged' })
        const isFinal = outcome === 'settled' || outcome === 'busy'
        return { outcome: isFinal ? outcome : `answered ${outcome}`, amount }
      })
      .catch((error: unknown) => ({ outcome: reasonOf(error), amount: null }))
  }

  /** False when it is not in quarantine any more, or is charged. */
  async function writeOff(key: QuarantineKey): Promise<boolean> {
    const input = settleFromText(key.settle)
    const isDone = await db.transaction(async (tx) => {
      const hold = await queries.quarantineHoldLock(tx, input)
      // A copy in a spool may have been charged. For a closed hold, a settle only compares.
      const isCharged =
        hold?.state === 'settled' &&
        (await queries.quarantineSettle(tx, input)).outcome === 'settled'
      if (hold !== undefined && hold.state !== 'settled') {
        await queries.quarantineVoid(tx, { input, tariff: hold.tariff, instance })
      }
      const outcome = isCharged ? 'charged' : 'written_off'
      return (await queries.quarantineClose(tx, { ...key, outcome })) && !isCharged
    })
    if (isDone) chargeLog.writtenOff(key.settle)
    return isDone
  }

  /** Adds locked books to `locked`; their other settles are not sent, because each would wait. */
  async function retryAll(rows: readonly QuarantineRow[], locked = new Set<BookId>()) {
    const results: (Retried & { readonly row: QuarantineRow })[] = []
    for (const row of rows) {
      const retried = locked.has(row.book)
        ? { outcome: 'busy', charged: null }
        : await retryOne(row)
      if (retried.outcome === 'busy') locked.add(row.book)
      results.push({ row, ...retried })
    }
    return results
  }

  /** The settles of a locked book may fill a whole list, so the next list is without that book. */
  async function retryDue() {
    const results: Awaited<ReturnType<typeof retryAll>> = []
    const locked = new Set<BookId>()
    for (;;) {
      const before = locked.size
      const sent = results.filter(({ outcome }) => outcome !== 'busy').length
      const due = { seconds: RETRY_SECONDS, limit: RETRIES_MAX - sent, except: [...locked] }
      results.push(...(await retryAll(await queries.quarantineListDue(db, due), locked)))
      if (locked.size === before || locked.size >= LOCKED_BOOKS_MAX) return results
    }
  }

  return {
    /** Resolves when the settle is stored. */
    add: ({ input, reason }: { readonly input: SettleInput; readonly reason: string }) =>
      queries.quarantineInsert(db, {
        hold: input.id,
        settle: settleKeyText(input),
        book: input.book,
        priced: input.priced,
        reason,
      }),

    /** For the worker's job: sends the settles that are due. */
    retryDue,

    /** How many settles one `retry` sends. */
    retriesMax: RETRIES_MAX,

    /** For an operator: sends the settles of one hold, or the oldest of all, now. */
    retry: async (hold: HoldId | null) =>
      retryAll(await queries.quarantineList(db, { limit: RETRIES_MAX, hold })),

    list: (p: { readonly limit: number; readonly hold: HoldId | null }) =>
      queries.quarantineList(db, p),

    /** Gives a settle up: it is not charged any more, and the credits of its hold are free. */
    writeOff,

    count: () => queries.quarantineCount(db),
  }
}
