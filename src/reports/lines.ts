// A month as a flat list of figures, each with a name that stays: for CSV, for seals, and to see
// what differs between a seal and a new count.
import type { Movement, PackMoney } from './liability.ts'
import type { MonthFigures } from './month.ts'

export type Unit = 'credits' | 'roubles' | 'count' | 'percent'

export type FigureLine = {
  readonly section: string
  /** What the figure is of: a pack, a kind of posting, a VAT code; empty: the whole. */
  readonly item: string
  readonly figure: string
  readonly unit: Unit
  /** Microcredits, kopecks, a count, or tenths of a percent; null: not known. */
  readonly value: bigint | null
}

export type Difference = Omit<FigureLine, 'value'> & {
  readonly before: bigint | null
  readonly now: bigint | null
  readonly difference: bigint
}

type Named = readonly [figure: string, unit: Unit, value: bigint | null]

function section(name: string, item: string, figures: readonly Named[]): FigureLine[] {
  return figures.map(([figure, unit, value]) => ({ section: name, item, figure, unit, value }))
}

export function linesOf(month: MonthFigures): FigureLine[] {
  const { liability, charges, promo, cost, margin } = month
  return [
    ...section('liability', '', movementLines(liability.total)),
    ...liability.rows.flatMap((row) =>
      section('liability', row.pack === null ? row.kind : `${row.kind} ${row.pack}`, [
        ...movementLines(row),
        ...(row.kopecks === null ? [] : moneyLines(row.kopecks)),
      ]),
    ),
    ...section('liability', 'all packs', moneyLines(liability.kopecks)),
    ...month.postings.flatMap((one) =>
      section('postings', `${one.kind} ${one.reason}`, [
        ['postings', 'count', one.postings],
        ['added', 'credits', one.added],
        ['taken', 'credits', one.taken],
      ]),
    ),
    ...month.adjustments.flatMap(({ contra, amount }) =>
      section('adjustments', contra, [['amount', 'credits', amount]]),
    ),
    ...section('requests', '', [
      ['charged', 'credits', charges.charged],
      ['written off', 'credits', charges.writtenOff],
      ['charges', 'count', charges.charges],
      ['free', 'count', charges.free],
    ]),
    ...takingLines(month),
    ...section('result', '', [
      ['revenue by use', 'roubles', month.revenue],
      ['vendor cost', 'roubles', cost.kopecks],
      ['margin', 'roubles', margin.kopecks],
      ['margin', 'percent', margin.tenths],
      ['promo granted', 'credits', promo.granted],
      ['promo used', 'credits', promo.used],
      ['promo cost', 'roubles', promo.costKopecks],
    ]),
    ...section('vendor cost', 'days', [
      ['invoiced', 'count', cost.days.invoiced],
      ['billed', 'count', cost.days.billed],
      ['counted', 'count', cost.days.counted],
      ['unknown', 'count', cost.days.unknown],
    ]),
  ]
}

function takingLines({ money }: MonthFigures): FigureLine[] {
  return [
    ...section('money', '', [
      ['taken', 'roubles', money.taken],
      ['payments', 'count', money.payments],
      ['sold', 'roubles', money.sold],
      ['sold orders', 'count', money.soldOrders],
      ['paid for what was sold', 'roubles', money.soldPaid],
      ['taken in an earlier month', 'roubles', money.takenBefore],
      ['credited in a later month', 'roubles', money.creditedLater],
      ['refunded', 'roubles', money.refunded],
      ['refunds', 'count', money.refunds],
      ['returned without a credit', 'roubles', money.returnedUncredited],
      ['disputes opened', 'count', money.disputesOpened],
      ['disputes opened', 'roubles', money.disputesOpenedKopecks],
      ['disputes won', 'count', money.disputesWon],
      ['disputes won', 'roubles', money.disputesWonKopecks],
      ['disputes lost', 'count', money.disputesLost],
      ['disputes lost', 'roubles', money.disputesLostKopecks],
      ['provider commission', 'roubles', money.commission],
      ['payments without a known commission', 'count', money.commissionUnknownPayments],
    ]),
    ...money.vat.flatMap((one) =>
      section('vat', `code ${one.code}`, [
        ['taken', 'roubles', one.taken],
        ['vat in what was taken', 'roubles', one.takenVat],
        ['refunded', 'roubles', one.refunded],
        ['vat in what was refunded', 'roubles', one.refundedVat],
      ]),
    ),
    ...section('receipts', '', [
      ['registered', 'count', money.receipts.registered],
      ['pending', 'count', money.receipts.pending],
      ['failed', 'count', money.receipts.failed],
      ['missing', 'count', money.receipts.missing],
      ['sold without receipts', 'count', money.receipts.off],
    ]),
  ]
}

function movementLines(one: Movement): Named[] {
  return [
    ['opening', 'credits', one.opening],
    ['credited', 'credits', one.credited],
    ['used', 'credits', one.used],
    ['refunded', 'credits', one.refunded],
    ['disputed', 'credits', one.disputed],
    ['adjusted', 'credits', one.adjusted],
    ['closing', 'credits', one.closing],
  ]
}

function moneyLines(one: PackMoney): Named[] {
  return [
    ['opening', 'roubles', one.opening],
    ['sold', 'roubles', one.sold],
    ['revenue by use', 'roubles', one.revenue],
    ['returned', 'roubles', one.returned],
    ['adjusted', 'roubles', one.adjusted],
    ['closing', 'roubles', one.closing],
  ]
}

const keyOf = ({ section, item, figure, unit }: Omit<FigureLine, 'value'>) =>
  JSON.stringify([section, item, figure, unit])

/** A line that one of the lists lacks counts there as nothing. */
export function differencesOf(
  before: readonly FigureLine[],
  now: readonly FigureLine[],
): Difference[] {
  const [known, found] = [before, now].map(
    (lines) => new Map(lines.map((line) => [keyOf(line), line])),
  ) as [Map<string, FigureLine>, Map<string, FigureLine>]
  const absent = (lines: ReadonlyMap<string, FigureLine>, key: string) => {
    const line = lines.get(key)
    return line === undefined ? 0n : line.value
  }
  return [...new Map([...found, ...known])].flatMap(([key, { value: _, ...line }]) => {
    const [was, is] = [absent(known, key), absent(found, key)]
    const difference = (is ?? 0n) - (was ?? 0n)
    return was === is ? [] : [{ ...line, before: was, now: is, difference }]
  })
}

/** Lines with differences applied: what is known after they were reported. */
export function corrected(
  lines: readonly FigureLine[],
  differences: readonly Difference[],
): FigureLine[] {
  const changed = new Map(differences.map((one) => [keyOf(one), one]))
  const kept = lines.filter((line) => !changed.has(keyOf(line)))
  const now = differences.map(({ section, item, figure, unit, now: value }) => ({
    ...{ section, item, figure, unit, value },
  }))
  return [...kept, ...now]
}
