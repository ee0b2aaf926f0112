// op today, op month and op month seal: figures for the people on duty and for the accountant.
import type {
  CreditsRow,
  Difference,
  FigureLine,
  MonthReport,
  Movement,
  PackMoney,
  TodayFigure,
} from '../../reports/reports.ts'
import type { Kopecks } from '../../units/kopecks.ts'
import { formatCount, formatCredits, formatRubleCell, formatTime } from '../desk/amounts.ts'
import { EXIT_DONE } from '../desk/command-error.ts'
import type { Desk } from '../desk/desk.ts'
import { type Column, tableOf } from '../desk/table.ts'
import { upstreamState } from '../upstreams/upstreams.ts'

const TODAY = [{ head: 'today' }, { head: '', side: 'right' }, { head: 'made of' }] as const
const TARGETS = [
  { head: 'upstream' },
  { head: 'state' },
  { head: 'under way', side: 'right' },
  { head: 'succeeded', side: 'right' },
  { head: 'failed', side: 'right' },
] as const
const COSTS = [
  { head: 'cost at' },
  { head: 'requests', side: 'right' },
  { head: 'RUB', side: 'right' },
] as const

export async function showToday(desk: Desk): Promise<number> {
  const today = await desk.modules.reports.today()
  const targets = today.upstreams.map((one) => [
    one.target,
    one.isDrained ? `${upstreamState(one)}, drained` : upstreamState(one),
    ...[one.underWay, one.succeeded, one.failed].map(formatCount),
  ])
  const costs = (today.costs ?? []).map(({ upstream, requests, costKopecks }) => [
    upstream ?? 'not recorded',
    ...[formatCount(requests), costKopecks === null ? 'unknown' : roubles(costKopecks)],
  ])
  const unknown = ['cost and margin: unknown without catalogue.vendorPricesFile']
  desk.say(today, [
    `${today.day} since ${formatTime(today.from)}, ${today.timeZone}`,
    ...tableOf(TODAY, today.figures.map(todayRow), desk.columns),
    ...tableOf(TARGETS, targets, desk.columns),
    ...tableOf(COSTS, costs, desk.columns),
    ...(today.costs === null ? unknown : []),
  ])
  return EXIT_DONE
}

function todayRow({ name, value, unit, of }: TodayFigure): string[] {
  const filter = Object.entries(of.filter).map(([key, text]) => `${key}=${text}`)
  return [wordsOf(name), figureText(value, unit), [of.kind, ...filter].join(' ')]
}

function figureText(value: bigint | null, unit: TodayFigure['unit']): string {
  if (value === null) return 'unknown'
  switch (unit) {
    case 'kopecks':
      return `${roubles(value)} RUB`
    case 'microcredits':
      return formatCredits(value)
    case 'count':
      return formatCount(value)
    case 'milliseconds':
      return `${formatCount(value)} ms`
    case 'tenths of a percent':
      return `${tenths(value)} %`
  }
}

/** `creditsRefunded` as `credits refunded`. */
function wordsOf(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
}

/** `op month 2026-11`; without a month, the current one. */
export async function showMonth(desk: Desk, month?: string): Promise<number> {
  const { reports } = desk.modules
  const report = await reports.month(month ?? (await reports.currentMonth()))
  if (desk.flag('csv') && !desk.isJson) {
    for (const line of reports.csv(report)) desk.print(line)
    return EXIT_DONE
  }
  desk.say(report, monthLines(desk, report))
  return EXIT_DONE
}

export async function sealMonth(desk: Desk, month: string): Promise<number> {
  const { reports } = desk.modules
  const prepared = await reports.prepareSeal(month)
  const { digest, report, timeZone } = prepared
  const reason = desk.text('reason')
  return desk.act({
    plan: [
      `${month}, ${timeZone}: seal these figures for good`,
      ...monthLines(desk, report).slice(1),
      'later corrections appear in the month in which they become known',
      ...(reason === undefined ? [] : [`reason: ${reason}`]),
    ],
    work: (tx) => reports.storeSeal(tx, prepared, desk.by),
    report: () => ({
      result: { month, timeZone, digest, corrections: report.corrections.length },
      line: `sealed ${month}, SHA-256 ${digest}`,
    }),
  })
}

const CREDITS: readonly Column[] = [
  { head: 'credits' },
  ...['opening', 'credited', 'used', 'refunded', 'disputed', 'adjusted', 'closing'].map(
    (head) => ({ head, side: 'right' }) as const,
  ),
]
const PACKS: readonly Column[] = [
  { head: 'packs, RUB' },
  ...['opening', 'sold', 'by use', 'returned', 'adjusted', 'closing'].map(
    (head) => ({ head, side: 'right' }) as const,
  ),
]
const OTHER = [{ head: '' }, { head: '' }, { head: '', side: 'right' }] as const
const CHANGED = [
  { head: 'about' },
  { head: 'figure' },
  { head: 'before', side: 'right' },
  { head: 'now', side: 'right' },
] as const
/** Sections that the two tables above them show better. */
const SHOWN_ABOVE = ['liability']
/** Reports are wider than a narrow terminal; a file or a wide one shows them whole. */
const WIDTH_MAX = 160

function monthLines(desk: Desk, report: MonthReport): string[] {
  const { figures, seal, corrections, differences, lines } = report
  const width = Math.max(desk.columns, WIDTH_MAX)
  const { rows, total, kopecks } = figures.liability
  const packs = rows.flatMap((row) =>
    row.kopecks === null ? [] : [moneyRow(titleOf(row), row.kopecks)],
  )
  const others = lines.filter(({ section }) => !SHOWN_ABOVE.includes(section))
  return [
    `${figures.month}, ${figures.timeZone}, ${stateOf(report)}`,
    ...tableOf(
      CREDITS,
      [...rows.map((row) => creditsRow(titleOf(row), row)), creditsRow('all', total)],
      width,
    ),
    ...tableOf(PACKS, [...packs, moneyRow('all', kopecks)], width),
    ...tableOf(OTHER, others.map(otherRow), width),
    ...tableOf(
      CHANGED,
      [
        ...corrections.map((one) => changedRow(`correction of ${one.about}`, one)),
        ...differences.map((one) => changedRow('since the seal', one)),
      ],
      width,
    ),
    ...(seal === null ? [] : [`sealed ${formatTime(seal.sealedAt)} by ${seal.sealedBy}`]),
    ...(seal === null ? [] : [`SHA-256 ${seal.digest}`]),
  ]
}

function stateOf({ figures, seal, differences }: MonthReport): string {
  if (seal === null) return figures.isOver ? 'not sealed' : 'not over'
  return differences.length === 0 ? 'sealed' : 'sealed, and a new count differs'
}

function titleOf({ kind, pack, title }: CreditsRow): string {
  return pack === null ? kind : `${kind} ${pack}${title === null ? '' : ` (${title})`}`
}

function creditsRow(title: string, one: Movement): string[] {
  const { opening, credited, used, refunded, disputed, adjusted, closing } = one
  const amounts = [opening, credited, used, refunded, disputed, adjusted, closing]
  return [title, ...amounts.map(formatCredits)]
}

function moneyRow(title: string, one: PackMoney): string[] {
  const { opening, sold, revenue, returned, adjusted, closing } = one
  return [title, ...[opening, sold, revenue, returned, adjusted, closing].map(roubles)]
}

function otherRow({ section, item, figure, unit, value }: FigureLine): string[] {
  return [section, item === '' ? figure : `${item}: ${figure}`, lineText(value, unit)]
}

function changedRow(about: string, one: Difference): string[] {
  const what = [one.section, one.item, one.figure].filter((text) => text !== '').join(' ')
  return [about, what, lineText(one.before, one.unit), lineText(one.now, one.unit)]
}

function lineText(value: bigint | null, unit: FigureLine['unit']): string {
  if (value === null) return 'unknown'
  switch (unit) {
    case 'roubles':
      return `${roubles(value)} RUB`
    case 'credits':
      return `${formatCredits(value)} credits`
    case 'percent':
      return `${tenths(value)} %`
    case 'count':
      return formatCount(value)
  }
}

/** With its sign: a correction or a margin may be negative. */
function roubles(kopecks: bigint): string {
  const size = (kopecks < 0n ? -kopecks : kopecks) as Kopecks
  return `${kopecks < 0n ? '-' : ''}${formatRubleCell(size)}`
}

function tenths(value: bigint): string {
  const size = value < 0n ? -value : value
  return `${value < 0n ? '-' : ''}${size / 10n}.${size % 10n}`
}
