// op catalogue margin: what each price leaves after the vendor's bill, at the cheapest pack. Also
// the check of `op catalogue apply`, which refuses to sell below cost.
import type { Catalogue, MarginLine } from '../../pricing/pricing.ts'
import { commandError, EXIT_DONE, EXIT_FAILED, usageError } from '../desk/command-error.ts'
import type { Desk, Line } from '../desk/desk.ts'
import { tableOf } from '../desk/table.ts'
import { catalogueOf, vendorPricesOf } from './price-files.ts'

const COLUMNS = [
  { head: 'model' },
  { head: 'sold' },
  { head: 'brings', side: 'right' },
  { head: 'costs', side: 'right' },
  { head: 'margin %', side: 'right' },
  { head: '' },
  { head: 'when' },
] as const

/** Exits with 1 when something is sold below cost. */
export async function showMargin(desk: Desk): Promise<number> {
  const { pricing } = desk.modules
  const vendor = await vendorPricesOf(desk)
  if (vendor === undefined) {
    throw usageError('name the vendor’s price list: --vendor <file>, or catalogue.vendorPricesFile')
  }
  const file = desk.text('catalogue')
  const catalogue = file === undefined ? await pricing.refresh() : await catalogueOf(desk, file)
  if (catalogue === undefined) throw commandError('there is no version in force')
  const model = desk.text('model')
  if (model !== undefined && !catalogue.models.some(({ id }) => id === model)) {
    throw commandError(`the catalogue has no model ${model}`)
  }
  const lines = pricing.margin
    .lines(catalogue, vendor)
    .filter((line) => model === undefined || line.model === model)
  const shown = desk.flag('all') ? lines : pricing.margin.worst(lines)
  const count = (verdict: MarginLine['verdict']) =>
    lines.filter((line) => line.verdict === verdict).length
  const sums = { prices: lines.length, losses: count('loss'), unknown: count('unknown') }
  desk.say({ lines: shown.map((line) => fieldsOf(desk, line)), ...sums }, [
    ...lossesInRed(marginTable(desk, shown), shown),
    ...sumOf(catalogue, sums),
  ])
  return sums.losses === 0 ? EXIT_DONE : EXIT_FAILED
}

function sumOf(
  { packs }: Catalogue,
  { prices, losses, unknown }: Readonly<Record<'prices' | 'losses' | 'unknown', number>>,
): string[] {
  if (packs.length === 0) return ['the catalogue has no packs: nothing is sold for money']
  return [
    'RUB per million tokens or thousand uses, at the cheapest pack',
    `${prices} prices: ${losses} below cost, ${unknown} with an unknown cost`,
  ]
}

function marginTable(desk: Desk, lines: readonly MarginLine[]): string[] {
  const { roublesDown, roublesUp } = desk.modules.pricing.money
  const rows = lines.map((line) => [
    line.model,
    line.sold,
    roublesDown(line.revenue),
    line.cost === undefined ? '?' : roublesUp(line.cost),
    percentText(desk, line),
    verdictWord[line.verdict],
    line.list,
  ])
  // Not cut to the terminal: without the end of a line the operator would not know when it holds.
  return tableOf(COLUMNS, rows, Infinity)
}

/** The first line of the table has the headings. */
function lossesInRed(table: readonly string[], lines: readonly MarginLine[]): Line[] {
  return table.map((row, i) => (lines[i - 1]?.verdict === 'loss' ? { red: row } : row))
}

const verdictWord = { loss: 'LOSS', unknown: 'unknown', profit: '' } as const

/** `25.9`; a question mark for an unknown cost, a dash where nothing is charged. */
function percentText({ modules }: Desk, line: MarginLine): string {
  const tenths = modules.pricing.margin.tenths(line)
  if (tenths === undefined) return line.cost === undefined ? '?' : '-'
  const size = tenths < 0n ? -tenths : tenths
  return `${tenths < 0n ? '-' : ''}${size / 10n}.${size % 10n}`
}

function fieldsOf(desk: Desk, line: MarginLine) {
  const { roublesDown, roublesUp } = desk.modules.pricing.money
  const { revenue, cost, ...rest } = line
  return {
    ...rest,
    bringsRub: roublesDown(revenue),
    costsRub: cost === undefined ? null : roublesUp(cost),
    marginPercent: percentText(desk, line),
  }
}

export type MarginCheck = {
  /** What the plan of `apply` says about it. */
  readonly plan: readonly string[]
  /** What the record of `apply` says; empty when nothing is sold below cost. */
  readonly record: string
}

/** Refuses a catalogue that sells below cost, unless `--sell-below-cost` is given. */
export async function checkMargin(desk: Desk, catalogue: Catalogue): Promise<MarginCheck> {
  const vendor = await vendorPricesOf(desk)
  if (vendor === undefined) {
    return { plan: ['margin was not checked: there is no vendor price list'], record: '' }
  }
  const { margin } = desk.modules.pricing
  const lines = margin.lines(catalogue, vendor)
  const unknown = margin.worst(lines.filter(({ verdict }) => verdict === 'unknown'))
  const losses = margin.worst(lines.filter(({ verdict }) => verdict === 'loss'))
  const plan = marginTable(desk, [...losses, ...unknown]).map((line) => `  ${line}`)
  if (losses.length === 0) {
    const sum = `no known price is below cost; ${unknown.length} costs are unknown`
    return { plan: [sum, ...plan], record: '' }
  }
  const sum = `${losses.length} prices are below cost`
  if (desk.flag('sellBelowCost')) return { plan: [sum, ...plan], record: `; ${sum}, on purpose` }
  throw commandError([`refused: ${sum}`, ...plan, 'to apply it: --sell-below-cost'].join('\n'))
}
