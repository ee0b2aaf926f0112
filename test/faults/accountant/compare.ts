// Compares every figure of a month and of today with plain SQL and with the bank.
import type { FigureLine, MonthReport, Today } from '../../../src/reports/reports.ts'
import { ensure } from '../../support/drill.ts'
import * as plain from './plain.ts'
import type { World } from './world.ts'
import { VAT_CODE } from './world.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

type Expected = Map<string, bigint>
const keyOf = (section: string, item: string, figure: string, unit: string) =>
  [section, item, figure, unit].join(' | ')

type Moments = plain.Moments & { readonly name: string }

/** Every line of the report has an expected value, and the other way round. */
export async function compareMonth(
  world: World,
  month: Moments,
  { lines, figures }: MonthReport,
): Promise<number> {
  ensure((await plain.overdrawnLots(world.db)) === 0n, 'no debit of the month exceeds its lot')
  const expected: Expected = new Map()
  const add = (section: string, item: string, unit: string, values: Record<string, bigint>) => {
    for (const [figure, value] of Object.entries(values)) {
      expected.set(keyOf(section, item, figure, unit), value)
    }
  }
  const used = await expectLiability(world, month, add)
  await expectEntries(world, month, add)
  await expectMoney(world, month, add)
  const { cost, revenue } = await expectResult(world, month, used, add)
  ensure(
    figures.margin.kopecks === revenue - cost,
    `margin is revenue less cost: ${figures.margin.kopecks}`,
  )
  for (const line of lines) checkLine(line, expected)
  for (const [key, value] of expected) {
    const isShown = lines.some((one) => keyOf(one.section, one.item, one.figure, one.unit) === key)
    ensure(isShown || value === 0n, `the month shows ${key}: ${value}`)
  }
  return lines.length
}

function checkLine({ section, item, figure, unit, value }: FigureLine, expected: Expected): void {
  // A share of two figures that are compared themselves.
  if (unit === 'percent') return
  const key = keyOf(section, item, figure, unit)
  const known = expected.get(key)
  ensure(known !== undefined, `${key} is compared with plain SQL`)
  ensure(value === known, `${key}: ${value}, by plain SQL ${known}`)
}

type Add = (section: string, item: string, unit: string, values: Record<string, bigint>) => void

async function expectLiability({ db }: World, month: Moments, add: Add) {
  const [before, after] = [await plain.lotsAt(db, month.fromMs), await plain.lotsAt(db, month.toMs)]
  const money = { opening: 0n, sold: 0n, 'revenue by use': 0n, returned: 0n, adjusted: 0n }
  const sums = { ...money, closing: 0n }
  const used = { all: 0n, promo: 0n, granted: 0n }
  for (const [item, now] of after) {
    const was = before.get(item) ?? {}
    const delta = (name: string) => (now[name] ?? 0n) - (was[name] ?? 0n)
    add('liability', item, 'credits', {
      opening: was.left ?? 0n,
      credited: delta('credited'),
      used: delta('used'),
      refunded: delta('refunded'),
      disputed: delta('disputed'),
      adjusted: delta('adjusted'),
      closing: now.left ?? 0n,
    })
    used.all += delta('used')
    if (item === 'promo') Object.assign(used, { promo: delta('used'), granted: delta('credited') })
    if (!item.startsWith('paid ')) continue
    const left = (lot: plain.Plain) =>
      (lot.price ?? 0n) - (lot.revenue ?? 0n) - (lot.adjustedKopecks ?? 0n) - (lot.returned ?? 0n)
    const own = {
      opening: left(was),
      sold: delta('price'),
      'revenue by use': delta('revenue'),
      returned: delta('returned'),
      adjusted: delta('adjustedKopecks'),
      closing: left(now),
    }
    add('liability', item, 'roubles', own)
    for (const name of Object.keys(own) as (keyof typeof own)[]) sums[name] += own[name]
  }
  add('liability', 'all packs', 'roubles', sums)
  return { ...used, revenue: sums['revenue by use'] }
}

async function expectEntries({ db }: World, month: Moments, add: Add): Promise<void> {
  const entries = await plain.entriesOf(db, month)
  const of = (name: string) => entries[name] ?? 0n
  const movement = ['opening', 'credited', 'used', 'refunded', 'disputed', 'adjusted', 'closing']
  add('liability', '', 'credits', Object.fromEntries(movement.map((name) => [name, of(name)])))
  add('requests', '', 'credits', { charged: of('used'), 'written off': of('writtenOff') })
  add('requests', '', 'count', { charges: of('charges'), free: of('free') })
  for (const [item, { postings, added, taken }] of await plain.postingsOf(db, month)) {
    add('postings', item, 'count', { postings: postings ?? 0n })
    add('postings', item, 'credits', { added: added ?? 0n, taken: taken ?? 0n })
  }
  for (const [contra, amount] of await plain.adjustmentsOf(db, month)) {
    add('adjustments', contra, 'credits', { amount })
  }
}

async function expectMoney({ db, sim }: World, month: Moments, add: Add): Promise<void> {
  const money = await plain.moneyOf(db, month)
  const bank = await plain.bankOf(db, sim, month)
  const of = (name: string) => money[name] ?? 0n
  ensure(bank.taken === of('taken'), `the bank took ${bank.taken}, we ${of('taken')}`)
  ensure(
    bank.commission === of('commission'),
    `the bank kept ${bank.commission}, we know of ${of('commission')}`,
  )
  add('money', '', 'roubles', {
    ...{ taken: of('taken'), sold: of('sold'), 'paid for what was sold': of('soldPaid') },
    'taken in an earlier month': of('takenBefore'),
    'credited in a later month': of('creditedLater'),
    ...{ refunded: of('refunded'), 'returned without a credit': of('returnedUncredited') },
    ...{ 'disputes opened': of('openedKopecks'), 'disputes won': of('wonKopecks') },
    ...{ 'disputes lost': of('lostKopecks'), 'provider commission': of('commission') },
  })
  add('money', '', 'count', {
    ...{ payments: of('payments'), 'sold orders': of('soldOrders'), refunds: of('refunds') },
    ...{ 'disputes opened': of('opened'), 'disputes won': of('won'), 'disputes lost': of('lost') },
    'payments without a known commission': of('commissionUnknown'),
  })
  add('vat', `code ${VAT_CODE}`, 'roubles', {
    ...{ taken: of('taken'), 'vat in what was taken': of('takenVat') },
    ...{ refunded: of('refunded'), 'vat in what was refunded': of('refundedVat') },
  })
  add('receipts', '', 'count', {
    ...{ registered: of('registered'), pending: of('pending'), failed: of('failed') },
    ...{ missing: of('missing'), 'sold without receipts': 0n },
  })
}

async function expectResult(
  { db }: World,
  month: Moments,
  used: { all: bigint; promo: bigint; granted: bigint; revenue: bigint },
  add: Add,
) {
  const [year = 0, index = 1] = month.name.split('-').map(Number)
  const days = { fromMs: Date.UTC(year, index - 1, 1), toMs: Date.UTC(year, index, 1) }
  const cost = await plain.costOf(db, days, 'day')
  const share = used.all <= 0n ? 0n : (cost * used.promo + used.all - 1n) / used.all
  add('result', '', 'roubles', {
    ...{ 'revenue by use': used.revenue, 'vendor cost': cost, margin: used.revenue - cost },
    'promo cost': share,
  })
  add('result', '', 'credits', { 'promo granted': used.granted, 'promo used': used.promo })
  const length = BigInt((days.toMs - days.fromMs) / 86_400_000)
  add('vendor cost', 'days', 'count', { invoiced: 0n, billed: 0n, counted: length, unknown: 0n })
  return { cost, revenue: used.revenue }
}

/** Today, from midnight in Moscow; the database is at rest meanwhile. */
export async function compareToday({ db }: World, today: Today): Promise<number> {
  const moments = { fromMs: today.from.getTime(), toMs: today.now.getTime() + 1 }
  const money = await plain.moneyOf(db, moments)
  const entries = await plain.entriesOf(db, moments)
  const books = await plain.booksNow(db)
  const [before, after] = [
    await plain.lotsAt(db, moments.fromMs),
    await plain.lotsAt(db, moments.toMs),
  ]
  const revenueOf = (lots: Map<string, plain.Plain>) =>
    [...lots.values()].reduce((sum, one) => sum + (one.revenue ?? 0n), 0n)
  const revenue = revenueOf(after) - revenueOf(before)
  const cost = await plain.costOf(db, moments, 'period')
  const of = (row: plain.Plain, name: string) => row[name] ?? 0n
  const expected: Record<string, bigint> = {
    ...{ taken: of(money, 'taken'), sold: of(money, 'sold'), refunded: of(money, 'refunded') },
    ...{ disputesLost: of(money, 'lostKopecks'), inReview: of(books, 'inReview') },
    ...{ credited: of(entries, 'credited'), spent: of(entries, 'used') },
    ...{ creditsRefunded: of(entries, 'refunded'), creditsDisputed: of(entries, 'disputed') },
    ...{ creditsAdjusted: of(entries, 'adjusted'), liability: of(books, 'liability') },
    ...{ available: of(books, 'available'), held: of(books, 'held'), debt: of(books, 'debt') },
    ...{ revenue, cost, margin: revenue - cost },
    ...{ requests: of(entries, 'charges') + of(entries, 'free'), errors: of(entries, 'errors') },
    ...{ refused: 0n, inputTokens: of(entries, 'input'), outputTokens: of(entries, 'output') },
    ...{ cacheReadTokens: 0n, cacheWriteTokens: 0n },
  }
  for (const { name, value, unit } of today.figures) {
    if (unit === 'milliseconds' || unit === 'tenths of a percent') continue
    ensure(name in expected, `today's ${name} is compared with plain SQL`)
    ensure(value === expected[name], `today's ${name}: ${value}, by plain SQL ${expected[name]}`)
  }
  await compareHours(db, today)
  return today.figures.length
}

/** Each hour of the picture, and the same hour a day earlier. */
async function compareHours(db: World['db'], today: Today): Promise<void> {
  const requestsFrom = (fromMs: number) => plain.requestsOf(db, { fromMs, toMs: fromMs + HOUR_MS })
  for (const { at, ...hour } of today.hours) {
    const counted = await requestsFrom(at.getTime())
    const before = (await requestsFrom(at.getTime() - DAY_MS)).requests
    const shown = [hour.requests, hour.errors, hour.spent, hour.before].join(' ')
    const expected = [counted.requests, counted.errors, counted.spent, before].join(' ')
    ensure(shown === expected, `${at.toISOString()}: ${shown}, by plain SQL ${expected}`)
  }
}
