// Thousands of mixed requests, and then the vendor's bill: the stand-in counts by itself what it
// bills, and serves it as the vendor's usage report. Our counts tie with it exactly, per model,
// rate and dimension. Requests whose counts nobody reported to us (clients that left, replies that
// failed) are named by their endings, and are the whole remainder. A planted token and a planted
// search are found.

import { systemClock } from '../../../src/platform/clock.ts'
import { Masked } from '../../../src/platform/masked.ts'
import { fetchReport } from '../../../src/vendor-bill/fetch.ts'
import { createVendorBill, type Tie, type TieLine } from '../../../src/vendor-bill/vendor-bill.ts'
import type { Received } from '../../../stand-ins/vendor/record.ts'
import { createClient } from '../../journeys/gateway/client.ts'
import { createTestGateway, type TestGateway } from '../../stages/gateway.ts'
import type { Drill } from '../../support/drill.ts'
import { ensure, random, sleep } from '../../support/drill.ts'
import { catalogueText, drawKinds, sendOne, statuses, vendorPricesText } from './mix.ts'

const DAY_MS = 86_400_000
/** Clients at a time: the gateway, the stand-in and the clients share one process. */
const CLIENTS = 12
/** Requests that met a pause of their model and are sent again. */
const RETRIES_MAX = 50
/** A request that runs over midnight is open on both days; the drill begins after it instead. */
const MIDNIGHT_MS = { short: 60_000, full: 240_000 }

export const drill: Drill = async ({ isFull, seed, say }) => {
  const untilMidnightMs = DAY_MS - (Date.now() % DAY_MS)
  if (untilMidnightMs < MIDNIGHT_MS[isFull ? 'full' : 'short']) await sleep(untilMidnightMs + 1_000)
  const gateway = await createTestGateway({ catalogueText })
  try {
    const kinds = drawKinds(isFull ? 2_000 : 150, random(seed))
    await sendAll(gateway, kinds, random(seed + 1), say)
    say(`${kinds.length} requests, ${gateway.vendor.requests.length} reached the stand-in`)
    const bill = openBill(gateway, systemClock.nowMs)
    const ties = await compare(gateway, bill)
    const figures = await checkTie(gateway, ties)
    const before = differing(ties)
    ensure(before.length === 0, `nothing was planted, and these differ: ${shown(before)}`)
    await checkPlanted(gateway, bill)
    await checkJob(gateway)
    const money = ties.map((tie) => bill.shown(tie))
    const [sold, costs] = [money[0]?.bringsKopecks ?? '', money[0]?.costsKopecks ?? '']
    return { requests: kinds.length, ...figures, bringsKopecks: sold, costsKopecks: costs }
  } finally {
    await gateway.end()
  }
}

function openBill(gateway: TestGateway, nowMs: () => number) {
  return createVendorBill({
    ...{ db: gateway.database.db, clock: { ...systemClock, nowMs }, ledger: gateway.ledger },
    ...{ pricing: gateway.pricing, url: gateway.vendor.url, upstreams: 'all', alarmPercent: 1 },
    ...{ key: new Masked(gateway.vendor.reportKey), vendorPricesFile: 'none' },
  })
}

async function sendAll(
  gateway: TestGateway,
  kinds: readonly string[],
  draw: () => number,
  say: (text: string) => void,
): Promise<void> {
  const { key } = await gateway.account(10n ** 10n)
  const client = createClient(gateway.url, key)
  const waiting = [...kinds]
  const answered = new Set<string>()
  let again = RETRIES_MAX
  const work = async () => {
    for (let kind = waiting.pop(); kind !== undefined; kind = waiting.pop()) {
      const status = await sendOne(gateway, client, kind, draw)
      const expected = Object.hasOwn(statuses, kind) ? statuses[kind] : 200
      if (expected === undefined || status === expected) {
        answered.add(kind)
        continue
      }
      // The 529 of another request may have asked for a pause of this model.
      say(`${kind} got ${status}`)
      again -= 1
      if (again >= 0) waiting.unshift(kind)
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, work))
  client.end()
  const missing = kinds.filter((kind) => !answered.has(kind))
  ensure(missing.length === 0, `every kind was answered as expected: ${[...new Set(missing)]}`)
  // Streams whose clients left are read for up to 0.7 s more.
  for (let i = 0; i < 1_500 && (await openHolds(gateway)) > 0; i++) await sleep(10)
  ensure((await openHolds(gateway)) === 0, 'every hold is settled or voided')
}

async function openHolds({ database }: TestGateway): Promise<number> {
  const { rows } = await database.db.query(`select count(*)::int4 from holds where state = 'open'`)
  return (rows[0] as { count: number }).count
}

/** The report of yesterday and today: the drill may run at midnight. */
async function compare(gateway: TestGateway, bill: ReturnType<typeof openBill>): Promise<Tie[]> {
  const dayAt = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10)
  const { url, reportKey } = gateway.vendor
  const key = new Masked(reportKey)
  const read = bill.read(await fetchReport({ url, key }, { from: dayAt(-1), to: dayAt(1) }))
  ensure('rows' in read, `the report can be read: ${Object.values(read)}`)
  const prices = gateway.pricing.parseVendorPrices(vendorPricesText)
  ensure('prices' in prices, `the prices can be read: ${Object.values(prices)}`)
  return bill.compare({ rows: read.rows, vendor: prices.prices })
}

type EntryRow = { readonly id: string | null; readonly ending: string; readonly certainty: string }

/** How exactly each request is known, by the stand-in's own id of it. */
async function entriesOf({ database }: TestGateway): Promise<EntryRow[]> {
  const { rows } = await database.db.query(
    `select vendor_request_id as id, ending::text, case
       when kind = 'charge' then case when estimated then 'estimated' else 'reported' end
       when parts ? 'seen' then 'seen' when status >= 300 or waited_ms is null then 'unbilled'
       else 'unknown' end as certainty
     from entries where kind in ('charge', 'void')`,
  )
  return rows as EntryRow[]
}

/** Compares every line with the stand-in's own record of each request. */
async function checkTie(gateway: TestGateway, ties: readonly Tie[]) {
  const entries = new Map((await entriesOf(gateway)).map((one) => [one.id, one]))
  const known = new Map<string, bigint>()
  const all = new Map<string, bigint>()
  for (const received of gateway.vendor.requests) {
    const entry = entries.get(received.requestId)
    for (const [key, dimension, amount] of amountsOf(received)) {
      all.set(key, (all.get(key) ?? 0n) + amount)
      if (entry !== undefined && isKnown(entry, dimension)) {
        known.set(key, (known.get(key) ?? 0n) + amount)
      }
    }
  }
  let exact = 0
  let remainder = 0n
  for (const tie of ties) {
    for (const line of tie.lines) {
      const key = keyOf(tie.day, line.model, line.rate, line.dimension)
      const [billed, counted] = [all.get(key) ?? 0n, known.get(key) ?? 0n]
      ensure(line.billed === billed, `${key} is billed ${billed}, the report says ${line.billed}`)
      ensure(line.counted === counted, `${key}: we count ${line.counted}, it billed ${counted}`)
      const isOpen = tie.open.some((one) => one.model === line.model)
      ensure(isOpen || line.verdict === 'ties', `${key} ties without open requests`)
      if (line.billed === line.counted) exact += 1
      else remainder += line.billed - line.counted
      all.delete(key)
    }
  }
  const left = [...all].filter(([, amount]) => amount > 0n)
  ensure(left.length === 0, `every billed amount has a line: ${left.map(([key]) => key)}`)
  const open = ties.flatMap((tie) => tie.open)
  for (const [ending, certainty] of [
    ...[['client_left', 'estimated'] as const, ['upstream_failed', 'seen'] as const],
    ...[['upstream_failed', 'unknown'] as const, ['complete', 'estimated'] as const],
  ]) {
    const named = open
      .filter((one) => one.ending === ending && one.certainty === certainty)
      .reduce((sum, one) => sum + one.requests, 0)
    const own = [...entries.values()].filter(
      (one) => one.ending === ending && one.certainty === certainty,
    )
    // Requests without an answer have no id of the stand-in, so they share one place in the map.
    const isNamed = certainty === 'unknown' ? named > 0 : named === own.length && named > 0
    ensure(isNamed, `${named} requests are named as ${ending}, ${certainty}: ${own.length}`)
  }
  const lines = ties.reduce((sum, tie) => sum + tie.lines.length, 0)
  const openRequests = open.reduce((sum, one) => sum + one.requests, 0)
  return { lines, exactLines: exact, openRequests, remainder }
}

function isKnown({ certainty, ending }: EntryRow, dimension: string): boolean {
  if (certainty === 'reported') return true
  const isInput = dimension === 'input' || dimension.startsWith('cache')
  return certainty === 'estimated' && ending !== 'complete' && isInput
}

function amountsOf({ billed }: Received): [key: string, dimension: string, amount: bigint][] {
  return billed.flatMap((row) => {
    const values = [
      row.speed === 'standard' ? '' : `speed=${row.speed}`,
      row.inference_geo === 'not_available' ? '' : `inference_geo=${row.inference_geo}`,
      row.service_tier === 'standard' ? '' : `service_tier=${row.service_tier}`,
    ]
    const rate = values.filter(Boolean).join(' ')
    const tokens = [
      ['input', row.uncached_input_tokens],
      ['cache read', row.cache_read_input_tokens],
      ['cache write 5m', row.ephemeral_5m_input_tokens],
      ['cache write 1h', row.ephemeral_1h_input_tokens],
      ['output', row.output_tokens],
    ] as const
    const uses = Object.entries(row.server_tool_use).map(
      ([name, count]) => [`${name.replace(/_requests$/, '')} use`, count] as const,
    )
    return [
      ...tokens.map(([what, count]) => [what, rate, count] as const),
      ...uses.map(([what, count]) => [what, '', count] as const),
    ].map(([what, at, count]): [string, string, bigint] => [
      keyOf(row.day, row.model, at, what),
      what,
      BigInt(count),
    ])
  })
}

function keyOf(day: string, model: string, rate: string, dimension: string): string {
  return [day, model, dimension, rate].filter(Boolean).join(' ')
}

function differing(ties: readonly Tie[]): TieLine[] {
  return ties.flatMap(({ lines }) => lines.filter(({ verdict }) => verdict === 'differs'))
}

function shown(lines: readonly TieLine[]): string {
  return lines
    .map(({ model, rate, dimension, difference }) => `${model} ${dimension} ${rate} ${difference}`)
    .join(', ')
}

/** One token and one search more on the bill are one line each, and gone when they are. */
async function checkPlanted(gateway: TestGateway, bill: ReturnType<typeof openBill>) {
  const day = new Date().toISOString().slice(0, 10)
  const plants = [
    ['output', { output_tokens: 1 }, { output_tokens: -1 }],
    ['cache read', { cache_read_input_tokens: 1 }, { cache_read_input_tokens: -1 }],
    [
      'web_search use',
      { server_tool_use: { web_search_requests: 1 } },
      { server_tool_use: { web_search_requests: -1 } },
    ],
  ] as const
  for (const [dimension, more, less] of plants) {
    // No request of this model is open, so not even one token has another explanation.
    gateway.vendor.bill.plant({ day, model: 'model-small', ...more })
    const found = differing(await compare(gateway, bill))
    const [line] = found
    ensure(
      found.length === 1 && line?.dimension === dimension && line.difference === 1n,
      `one planted ${dimension} is found, alone: ${shown(found)}`,
    )
    gateway.vendor.bill.plant({ day, model: 'model-small', ...less })
    const after = differing(await compare(gateway, bill))
    ensure(after.length === 0, `without the planted ${dimension} nothing differs: ${shown(after)}`)
  }
  // Where requests are open, one token more still changes the difference by one.
  const of = async () => {
    const lines = (await compare(gateway, bill)).flatMap((tie) => tie.lines)
    const isOutput = (one: TieLine) =>
      one.model === 'model-large' && one.dimension === 'output' && one.rate === ''
    return lines.find(isOutput)?.difference ?? 0n
  }
  const before = await of()
  gateway.vendor.bill.plant({ day, model: 'model-large', output_tokens: 1 })
  ensure((await of()) === before + 1n, 'a planted token beside open requests shows in its line')
  gateway.vendor.bill.plant({ day, model: 'model-large', output_tokens: -1 })
}

/** The daily job, a day later: it stores what it found, and the metric follows. */
async function checkJob(gateway: TestGateway): Promise<void> {
  const bill = openBill(gateway, () => Date.now() + DAY_MS)
  const day = new Date().toISOString().slice(0, 10)
  await bill.compareLately()
  ensure(
    (await bill.list(9)).some((one) => one.day === day),
    'the job stores the day',
  )
  gateway.vendor.bill.plant({ day, model: 'model-small', uncached_input_tokens: 50_000_000 })
  const alarms = await bill.compareLately()
  ensure(alarms.length === 1 && alarms[0]?.day === day, 'the job names a day above the threshold')
  ensure((await bill.status()).alarm === 1, 'the metric of the alarm is 1')
}
