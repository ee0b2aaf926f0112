// op vendor-bill: compares what the vendor bills with what we count, by day, model and dimension,
// and keeps the result for the metric and for `list`.
import { creditsText, wholeCredits } from '../units/credits.ts'
import type { StoredTie, Tie } from '../vendor-bill/vendor-bill.ts'
import { textOf, vendorPricesOf } from './catalogue/price-files.ts'
import { formatCount, formatMinute, parseCount } from './desk/amounts.ts'
import { commandError, EXIT_DONE, EXIT_FAILED, usageError } from './desk/command-error.ts'
import type { Desk } from './desk/desk.ts'
import { tableOf } from './desk/table.ts'

const LIST = 30

const LINES = [
  { head: 'day' },
  { head: 'model' },
  { head: 'what' },
  { head: 'billed', side: 'right' },
  { head: 'counted', side: 'right' },
  { head: 'open', side: 'right' },
  { head: 'difference', side: 'right' },
  { head: '' },
] as const

const MONEY = [
  { head: 'day' },
  { head: 'model' },
  { head: 'credits sold', side: 'right' },
  { head: 'brings', side: 'right' },
  { head: 'costs', side: 'right' },
  { head: 'margin %', side: 'right' },
] as const

/** Exits with 1 when a line differs, or a day is above the threshold. */
export async function importVendorBill(desk: Desk, file?: string): Promise<number> {
  const { vendorBill, db } = desk.modules
  const vendor = await vendorPricesOf(desk)
  const ties = file === undefined ? await fetched(desk, vendor) : await imported(desk, file, vendor)
  const differing = ties.flatMap(({ lines }) =>
    lines.filter(({ verdict }) => verdict === 'differs'),
  )
  const alarms = ties.filter(({ money }) => vendorBill.isAlarm(money.differenceMillionths))
  if (!desk.isJson) for (const line of printed(desk, ties)) desk.print(line)
  const days = ties.map(({ day }) => day)
  const code = await desk.actWithoutAsking({
    work: () => vendorBill.store(db, ties, file === undefined ? 'report' : 'file'),
    report: () => ({
      result: { days: ties.map(vendorBill.shown), differing: differing.length },
      line: sentenceOf(days, differing.length, alarms.length),
    }),
  })
  return differing.length === 0 && alarms.length === 0 ? code : EXIT_FAILED
}

type Vendor = Awaited<ReturnType<typeof vendorPricesOf>>

function fetched({ modules: { vendorBill } }: Desk, vendor: Vendor): Promise<Tie[]> {
  if (vendorBill.isConfigured) return vendorBill.fetchAndCompare(vendor)
  throw usageError('name a file, or set vendorBill.url and vendorBill.key')
}

async function imported(desk: Desk, file: string, vendor: Vendor): Promise<Tie[]> {
  const { vendorBill } = desk.modules
  const read = vendorBill.read(await textOf(file))
  if ('problems' in read) throw problemsError(file, read.problems)
  const { rows, days } = read
  if (days.length === 0) throw commandError(`${file}: the report has no days`)
  const costsFile = desk.text('costs')
  if (costsFile === undefined) return vendorBill.compare({ rows, days, vendor })
  const costs = vendorBill.readCosts(await textOf(costsFile))
  if ('problems' in costs) throw problemsError(costsFile, costs.problems)
  return vendorBill.compare({ rows, days, costs: costs.costs, vendor })
}

function problemsError(file: string, problems: readonly string[]) {
  return commandError(problems.map((one) => `${file}: ${one}`).join('\n'))
}

function sentenceOf(days: readonly string[], differing: number, alarms: number): string {
  const span = days.length === 1 ? days[0] : `${days[0]} to ${days.at(-1)}`
  const what = differing === 0 ? 'nothing differs' : `${differing} lines differ`
  const above = alarms === 0 ? '' : `; ${alarms} days are above the threshold`
  return `${span} compared: ${what}${above}`
}

function printed(desk: Desk, ties: readonly Tie[]): string[] {
  const isShown = (verdict: string) => desk.flag('all') || verdict !== 'ties'
  const rows = ties.flatMap(({ day, lines }) =>
    lines
      .filter(({ verdict }) => isShown(verdict))
      .map((line) => [
        ...[day, line.model, [line.dimension, line.rate].filter(Boolean).join(' ')],
        ...[line.billed, line.counted, line.open, line.difference].map(formatCount),
        line.verdict === 'differs' ? 'DIFFERS' : line.verdict,
      ]),
  )
  const tied = ties.flatMap(({ lines }) => lines).filter(({ verdict }) => verdict === 'ties')
  return [
    ...tableOf(LINES, rows, Infinity),
    `${formatCount(tied.length)} lines tie`,
    ...ties.flatMap(openLines),
    ...ties.flatMap(({ day, notInReport }) =>
      notInReport.map(({ model, dimension }) => `${day}  ${model}: the report has no ${dimension}`),
    ),
    ...tableOf(
      MONEY,
      ties.flatMap((tie) => moneyRows(desk, tie)),
      Infinity,
    ),
    ...ties.flatMap((tie) => moneyLines(desk, tie)),
  ]
}

const certaintyWord = {
  estimated: 'output estimated',
  seen: 'failed, counts up to then',
  unknown: 'nothing was reported',
  midnight: 'ran at midnight',
} as const

function openLines({ day, open }: Tie): string[] {
  return open.map(
    ({ model, ending, certainty, requests }) =>
      `${day}  ${model}: ${formatCount(requests)} ${ending}, ${certaintyWord[certainty]}`,
  )
}

function moneyRows(desk: Desk, { day, money }: Tie): string[][] {
  const { roublesDown, roublesUp } = desk.modules.pricing.money
  const rows = money.models.length === 1 ? money.models : [...money.models, { model: '', ...money }]
  return rows.map(({ model, sold, revenue, cost }) => {
    const tenths = desk.modules.pricing.margin.tenths({ revenue, cost })
    return [
      ...[day, model === '' ? 'all' : model, formatCount(wholeCredits(sold))],
      ...[roublesDown(revenue), cost === undefined ? '?' : roublesUp(cost)],
      tenths === undefined ? '?' : percentOf(tenths),
    ]
  })
}

function moneyLines(desk: Desk, { day, money, writtenOff }: Tie): string[] {
  const { roublesUp } = desk.modules.pricing.money
  const lost = writtenOff > 0n ? [`${day}  written off: ${creditsText(writtenOff)} credits`] : []
  const { invoiced, cost } = money
  if (invoiced === undefined) return lost
  const ours = cost === undefined ? 'unknown by our price list' : `${roublesUp(cost)} by our prices`
  return [...lost, `${day}  the cost report says ${roublesUp(invoiced)} RUB, ${ours}`]
}

function percentOf(tenths: bigint): string {
  const size = tenths < 0n ? -tenths : tenths
  return `${tenths < 0n ? '-' : ''}${size / 10n}.${size % 10n}`
}

const STORED = [
  { head: 'day' },
  { head: 'compared, UTC' },
  { head: 'from' },
  { head: 'lines', side: 'right' },
  { head: 'differ', side: 'right' },
  { head: 'open', side: 'right' },
  { head: 'difference %', side: 'right' },
  { head: '' },
] as const

/** Exits with 1 when a day is above the threshold. */
export async function listVendorBills(desk: Desk): Promise<number> {
  const { vendorBill } = desk.modules
  const limit = desk.read('limit', parseCount, 'a whole number') ?? LIST
  const ties = await vendorBill.list(limit)
  const isAbove = (tie: StoredTie) => vendorBill.isAlarm(tie.differenceMillionths)
  const rows = ties.map((tie) => [...rowOf(tie), isAbove(tie) ? 'ABOVE' : ''])
  const lines =
    rows.length === 0 ? ['no day was compared yet'] : tableOf(STORED, rows, desk.columns)
  desk.say({ days: ties }, lines)
  return ties.some(isAbove) ? EXIT_FAILED : EXIT_DONE
}

function rowOf({ day, comparedAt, source, tie, differenceMillionths }: StoredTie): string[] {
  const { lines } = tie as { lines: readonly { verdict: string }[] }
  const count = (verdict: string) => String(lines.filter((one) => one.verdict === verdict).length)
  const hundredths = differenceMillionths / 100n
  const percent = `${hundredths / 100n}.${String(hundredths % 100n).padStart(2, '0')}`
  return [
    ...[day, formatMinute(comparedAt), source],
    ...[String(lines.length), count('differs'), count('open'), percent],
  ]
}
