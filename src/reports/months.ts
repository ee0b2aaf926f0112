// Months and their seals. A month that is not sealed is counted; a sealed one is shown as it was
// sealed, with what a new count finds since. What is found later about a sealed month is reported
// as corrections of the month in which it became known, and sealed with that one.
import { dateAt } from '../platform/clock.ts'
import type { Db, Tx } from '../platform/db/db.ts'
import { corrected, type Difference, differencesOf, type FigureLine, linesOf } from './lines.ts'
import { type MonthFigures, type MonthModules, monthOf } from './month.ts'
import {
  monthAt,
  monthFind,
  type Period,
  type Seal,
  sealInsert,
  sealList,
  todayFind,
} from './queries.ts'
import { monthRefusal } from './refusals.ts'
import { type Correction, digestOf, readSealed, type Sealed, sealedText } from './sealed-text.ts'

export type MonthReport = {
  readonly figures: MonthFigures
  readonly lines: readonly FigureLine[]
  readonly seal: Pick<Seal, 'sealedAt' | 'sealedBy' | 'digest'> | null
  /** What became known in this month about months that were sealed before. */
  readonly corrections: readonly Correction[]
  /** What a new count finds other than the seal; a later month reports it as corrections. */
  readonly differences: readonly Difference[]
}

export type MonthInList = {
  readonly month: string
  readonly isOver: boolean
  readonly seal: MonthReport['seal']
  /** Later months that were sealed with corrections of this one. */
  readonly correctedIn: readonly string[]
}

/** A month that may be sealed, as it would be. */
export type PreparedSeal = {
  readonly month: string
  readonly timeZone: string
  readonly text: string
  readonly digest: string
  readonly report: MonthReport
}

export type MonthOptions = MonthModules & {
  readonly db: Db
  /** Where months begin. */
  readonly timeZone: string
  readonly vatCode: number
}

/**
 * Sealed months that are counted again for corrections. What is late comes within days: payments
 * are polled for 25 hours, vendors complete reports within days. Each one reads all books.
 */
const RECOUNTED = 3
/**
 * A transaction that began before the end of the month may commit after it, but not an hour later:
 * statements end after 30 seconds. A standby is at most five minutes behind.
 */
const SETTLED_MS = 3_600_000

export function createMonths(options: MonthOptions) {
  const { db, ledger, vatCode } = options

  function count(tx: Tx, month: string, timeZone: string, period: Period): Promise<MonthFigures> {
    return monthOf(tx, options, { ...period, month, timeZone, vatCode })
  }

  async function recount(tx: Tx, { month, timeZone }: Seal): Promise<FigureLine[]> {
    const period = await monthFind(tx, { month, timeZone })
    return linesOf(await count(tx, month, timeZone, period))
  }

  /** Compares the last sealed months with new counts, less what later seals reported. */
  async function correctionsBefore(tx: Tx, seals: readonly Seal[], month: string) {
    const earlier = seals.filter((seal) => seal.month < month)
    const found: Correction[] = []
    for (const seal of earlier.slice(-RECOUNTED)) {
      const about = seal.month
      const later = earlier.filter((one) => one.month > about)
      const reported = later
        .flatMap((one) => readSealed(one.figures).corrections)
        .filter((one) => one.about === about)
      const known = reported.reduce(
        (lines, one) => corrected(lines, [one]),
        linesOf(readSealed(seal.figures).figures),
      )
      const differences = differencesOf(known, await recount(tx, seal))
      found.push(...differences.map((one) => ({ about, ...one })))
    }
    return found
  }

  async function periodOf(tx: Tx, month: string, timeZone: string): Promise<Period> {
    if (!/^20\d\d-(?:0[1-9]|1[0-2])$/.test(month)) {
      throw monthRefusal('month_unknown', `${month} is not a month like 2026-11.`)
    }
    const period = await monthFind(tx, { month, timeZone })
    if (period.from > period.now) throw monthRefusal('month_unknown', `${month} has not begun.`)
    return period
  }

  async function report(tx: Tx, month: string): Promise<MonthReport> {
    const seals = await sealList(tx)
    const seal = seals.find((one) => one.month === month)
    if (seal !== undefined) return sealedReport(tx, seal)
    const { timeZone } = options
    const figures = await count(tx, month, timeZone, await periodOf(tx, month, timeZone))
    const corrections = await correctionsBefore(tx, seals, month)
    return { figures, lines: linesOf(figures), seal: null, corrections, differences: [] }
  }

  async function sealedReport(tx: Tx, seal: Seal): Promise<MonthReport> {
    const { figures, corrections } = readSealed(seal.figures)
    const lines = linesOf(figures)
    const differences = differencesOf(lines, await recount(tx, seal))
    return { figures, lines, seal: shownSeal(seal), corrections, differences }
  }

  /** Refuses a month that is not over, that is sealed, or before which another one is open. */
  async function requireSealable(tx: Tx, month: string): Promise<void> {
    const { to, now } = await periodOf(tx, month, options.timeZone)
    const settledMs = Math.max(to.getTime(), utcEndMs(month)) + SETTLED_MS
    if (now.getTime() < settledMs) {
      const at = dateAt(settledMs).toISOString().slice(0, 16)
      throw monthRefusal('month_not_over', `${month} can be sealed from ${at}Z on.`)
    }
    const seals = await sealList(tx)
    const last = seals.at(-1)
    if (seals.some((one) => one.month === month)) {
      throw monthRefusal('month_sealed', `${month} is sealed already.`)
    }
    if (last !== undefined && month !== monthAfter(last.month)) {
      const next = monthAfter(last.month)
      throw monthRefusal('month_out_of_turn', `${next} comes first: ${last.month} was the last.`)
    }
  }

  async function prepare(tx: Tx, month: string): Promise<PreparedSeal> {
    await requireSealable(tx, month)
    const found = await report(tx, month)
    const sealed: Sealed = { figures: found.figures, corrections: found.corrections }
    const text = sealedText(sealed)
    const { timeZone } = options
    return { month, timeZone, text, digest: digestOf(text), report: found }
  }

  const currentMonth = async (): Promise<string> =>
    (await todayFind(db, options.timeZone)).day.slice(0, 7)

  return {
    /** The figures of a month, `2026-11`. Refuses: month_unknown. */
    month: (month: string): Promise<MonthReport> =>
      ledger.totals.longSnapshot((tx) => report(tx, month)),

    /** `2026-11`, by the database's clock. */
    currentMonth,

    /** From the month of the first posting to the current one, newest first. Counts nothing. */
    async listMonths(): Promise<MonthInList[]> {
      const { timeZone } = options
      const seals = await sealList(db)
      const current = await currentMonth()
      const firstAt = await ledger.totals.firstPostingAt(db)
      const first = firstAt === null ? current : await monthAt(db, { at: firstAt, timeZone })
      const corrections = seals.flatMap((seal) =>
        readSealed(seal.figures).corrections.map(({ about }) => ({ about, in: seal.month })),
      )
      return monthsBetween(seals[0]?.month ?? first, first, current).map((month) => {
        const seal = seals.find((one) => one.month === month)
        return {
          ...{ month, isOver: month < current, seal: seal === undefined ? null : shownSeal(seal) },
          correctedIn: [
            ...new Set(corrections.filter((one) => one.about === month).map((one) => one.in)),
          ],
        }
      })
    },

    /** What a seal would keep. Refuses: month_unknown, _not_over, _sealed, _out_of_turn. */
    prepareSeal: (month: string): Promise<PreparedSeal> =>
      ledger.totals.longSnapshot((tx) => prepare(tx, month), { mayBeBehind: false }),

    /** Seals it, in the caller's transaction, once. Refuses: month_sealed. */
    async storeSeal(tx: Tx, prepared: PreparedSeal, by: string): Promise<void> {
      const { month, timeZone, text: figures, digest } = prepared
      if (await sealInsert(tx, { month, timeZone, sealedBy: by, figures, digest })) return
      throw monthRefusal('month_sealed', `${month} is sealed already.`)
    },
  }
}

function shownSeal({ sealedAt, sealedBy, digest }: Seal): MonthReport['seal'] {
  return { sealedAt, sealedBy, digest }
}

/** Newest first, from the earlier of two months. */
function monthsBetween(one: string, other: string, last: string): string[] {
  const months: string[] = []
  for (let month = one < other ? one : other; month <= last; month = monthAfter(month)) {
    months.unshift(month)
  }
  return months
}

/** `2027-01` after `2026-12`. */
function monthAfter(month: string): string {
  return dateAt(utcEndMs(month)).toISOString().slice(0, 7)
}

/** The end of the month in UTC, where the vendor's days end. */
function utcEndMs(month: string): number {
  const first = dateAt(Date.parse(`${month}-01`))
  return Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 1)
}
