// The entry file of reports: the figures of today, and of the accountant's months with their seals.
// It reads what ledger, payments, vendor-bill and upstreams know, and changes nothing but seals.
import { csvOf } from './csv.ts'
import { createFigureRows } from './figure-rows.ts'
import { createMonths, type MonthOptions } from './months.ts'
import { createToday, type TodayOptions } from './today.ts'

export type { DayRows, RowKind } from './figure-rows.ts'
export type { CreditsKind, CreditsRow, Liability, Movement, PackMoney } from './liability.ts'
export type { Difference, FigureLine, Unit } from './lines.ts'
export type { Money, Receipts, VatLine } from './money.ts'
export type { MonthFigures } from './month.ts'
export type { MonthInList, MonthReport, PreparedSeal } from './months.ts'
export type { MonthRefusalCode } from './refusals.ts'
export type { Correction } from './sealed-text.ts'
export type {
  FigureSource,
  Today,
  TodayFigure,
  TodayFigureName,
  UpstreamCostToday,
  UpstreamToday,
} from './today.ts'

export type ReportOptions = MonthOptions & TodayOptions

export function createReports(options: ReportOptions) {
  return {
    timeZone: options.timeZone,
    /** From midnight to now. One snapshot of the primary; about as fast as the books are few. */
    today: createToday(options),
    /** The rows that a figure of a day is made of, a page at a time. */
    dayRows: createFigureRows(options),
    ...createMonths(options),
    /** A month for a spreadsheet, one figure per line. */
    csv: csvOf,
  }
}

export type Reports = ReturnType<typeof createReports>
