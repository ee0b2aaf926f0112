// The world of a random month: real payments, ledger, pricing and vendor bill on a database, the
// stand-in of the bank, and one clock for all of them that is moved by hand.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../../src/platform/clock.ts'
import type { BookId } from '../../../src/platform/ids.ts'
import { newInstanceId } from '../../../src/platform/ids.ts'
import { Masked } from '../../../src/platform/masked.ts'
import { Refusal } from '../../../src/platform/refusal.ts'
import { createPricing } from '../../../src/pricing/pricing.ts'
import { createReports } from '../../../src/reports/reports.ts'
import { micro } from '../../../src/units/credits.ts'
import { kopecks } from '../../../src/units/kopecks.ts'
import { millionths, ONE } from '../../../src/units/price.ts'
import { createUpstreams } from '../../../src/upstreams/upstreams.ts'
import { createVendorBill } from '../../../src/vendor-bill/vendor-bill.ts'
import { upstreamDefaults } from '../../stages/data-plane.ts'
import { createTestPayments, pack as usualPack } from '../../stages/payments.ts'
import { random } from '../../support/drill.ts'
import { quiet } from '../../support/harness.ts'

export const TIME_ZONE = 'Europe/Moscow'
const MOSCOW_MS = 3 * 3_600_000
const DAY_MS = 86_400_000
/** VAT of 22 %. */
export const VAT_CODE = 11
export const MODELS = ['model-small', 'model-large'] as const
export const COEFFICIENT = 5n
/** What the vendor bills, in US dollars per million tokens, and kopecks per dollar. */
export const VENDOR = { input: '0.3', output: '1.2', kopecksPerUnit: 9_600 }

/** Round, odd in kopecks and microcredits, and small. */
const PACKS = [
  usualPack,
  { ...usualPack, id: 'odd', priceKopecks: kopecks(99_907), credits: micro(33_333_333_333_337n) },
  { ...usualPack, id: 'small', priceKopecks: kopecks(701), credits: micro(190_000_000_001n) },
]

export type World = Awaited<ReturnType<typeof createWorld>>

/** Its owner chose to forfeit, long ago. */
const GONE = { step: 'closed', unspent: 'forfeit', begunAt: new Date(0) } as const

export async function createWorld(seed: number) {
  const shift = { ms: 0 }
  const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + shift.ms }
  const packs = new Map(PACKS.map((one) => [one.id, one]))
  const closed = new Set<BookId>()
  const receipt = {
    vatCode: VAT_CODE,
    taxSystem: 0,
    measure: 'piece',
    subject: 'service',
    mode: 'full_prepayment',
  } as const
  const stage = await createTestPayments({
    bank: { payerTermMs: 200 * DAY_MS },
    yookassa: { receipt, clock },
    payments: {
      ...{ clock, promoTriesPerHour: 1_000, refundsPerMonth: 1_000 },
      packOf: (id) => packs.get(id),
      endingOf: async (book) => (closed.has(book) ? GONE : undefined),
    },
  })
  const { db, ledger, sim } = stage
  await db.query('create table month_clock (shift interval not null)')
  await db.query(`insert into month_clock values ('0')`)
  await db.query('grant select on month_clock to public')
  await db.query(
    `create or replace function ledger_now() returns timestamptz language sql volatile
     as 'select clock_timestamp() + shift from month_clock'`,
  )
  const directory = await mkdtemp(join(tmpdir(), 'tollgate-month-'))
  const base = { db: ledger.db, clock, log: quiet }
  const pricing = createPricing(base)
  const example = join(import.meta.dirname, '../../../catalogue.example.yaml')
  const read = pricing.parse(await readFile(example, 'utf8'))
  if (!('catalogue' in read)) throw new Error(read.problems.join('; '))
  await pricing.apply(read.catalogue, { by: 'a test', note: '' })
  const vendorBill = createVendorBill({
    ...{ ...base, ledger, pricing, url: 'none', key: new Masked('none'), upstreams: 'all' },
    ...{ alarmPercent: 1, vendorPricesFile: await writeVendorPrices(directory) },
  })
  const upstreams = createUpstreams({
    upstreams: [
      {
        ...{ ...upstreamDefaults, name: 'east', url: 'http://127.0.0.1:9' },
        keys: [new Masked('east secret')],
      },
    ],
    ...{ ...base, instance: newInstanceId() },
  })
  const reports = createReports({
    ...{ ...base, ledger, payments: stage.payments, vendorBill, upstreams },
    ...{ timeZone: TIME_ZONE, vatCode: VAT_CODE },
  })
  const tariffs = await Promise.all(MODELS.map((model) => ledger.tariff({ model, ...TARIFF })))

  /** Moves our clock and the bank's to a moment, and creates the partitions of the days ahead. */
  async function jumpTo(ms: number): Promise<void> {
    const more = Math.round(ms - clock.nowMs())
    if (more <= 0) return
    shift.ms += more
    await db.query('update month_clock set shift = make_interval(secs => $1)', [shift.ms / 1_000])
    await sim('advance', { ms: more })
    await db.query(`select ledger_partitions_make((ledger_now() at time zone 'UTC')::date)`)
  }

  return {
    ...{ stage, db, ledger, sim, payments: stage.payments, reports, packs, closed, tariffs },
    ...{ clock, jumpTo, draw: random(seed), months: monthsFrom(systemClock.nowMs()) },
    async end() {
      await upstreams.close()
      await stage.end()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

const TARIFF = {
  catalogueVersion: 1,
  price: {
    ...{ input: ONE, coefficient: millionths(COEFFICIENT * 1_000_000n) },
    ...{ cacheRead: ONE, cacheWrite5m: ONE, cacheWrite1h: ONE },
  },
}

async function writeVendorPrices(directory: string): Promise<string> {
  const file = join(directory, 'vendor.yaml')
  const { input, output, kopecksPerUnit } = VENDOR
  const cache = 'cacheRead: 0.3, cacheWrite5m: 0.3, cacheWrite1h: 0.3'
  const models = MODELS.map(
    (name) => `  - { name: ${name}, input: ${input}, output: ${output}, ${cache} }`,
  )
  const head = [`currency: USD`, `kopecksPerUnit: ${kopecksPerUnit}`, 'models:']
  await writeFile(file, `${[...head, ...models].join('\n')}\n`)
  return file
}

/** The next month and the one after it, in Moscow: name, begin, end. */
function monthsFrom(nowMs: number) {
  const now = new Date(nowMs)
  const beginOf = (i: number) =>
    Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + i, 1) - MOSCOW_MS
  const monthAt = (i: number) => ({
    name: new Date(beginOf(i) + MOSCOW_MS).toISOString().slice(0, 7),
    ...{ fromMs: beginOf(i), toMs: beginOf(i + 1) },
  })
  return [monthAt(1), monthAt(2)] as const
}

/** Undefined when the product refuses; every other error is a fault of it. */
export async function unlessRefused<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (error instanceof Refusal) return undefined
    throw error
  }
}
