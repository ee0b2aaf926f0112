// A thousand requests of all kinds through the real gateway, under two price versions. The owner's
// log, arithmetic, chart and statement agree with each other and with the usage in the replies, to
// the microcredit, before and after they are aggregated.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Home } from '../../../src/cabinet/contract/contract.ts'
import type { LogDetails, LogLine, LogPage, Usage } from '../../../src/cabinet/contract/usage.ts'
import { type CabinetStage, createCabinetStage, type Person } from '../../stages/cabinet.ts'
import { startDataPlane } from '../../stages/data-plane.ts'
import { random } from '../../support/drill.ts'
import { eventsOf, type ReportedUsage, text } from './expected-charges.ts'

const REQUESTS = 1_000
const AT_ONCE = 12
const seed = Math.floor(Math.random() * 2 ** 31)
const models = ['model-large', 'model-medium', 'model-small', 'model-small-20260115']

type Prices = { output: bigint; read: bigint; short: bigint; long: bigint }
type Asked = { model: string; prices: Prices; reported: ReportedUsage | null }

const first: Prices = { output: 5_000_000n, read: 100_000n, short: 1_250_000n, long: 2_000_000n }
/** The example's output of model-medium costs less. */
const medium: Prices = { ...first, output: 4_000_000n }
const second: Prices = { output: 333_333n, read: 1n, short: 1_000_001n, long: 0n }

const at = {} as { stage: CabinetStage; own: Person; end(): Promise<void> }
/**
 * By number: what was asked, and the usage that the reply reported; null without a complete one.
 */
const asked = new Map<string, Asked>()

before(async () => {
  at.stage = await createCabinetStage()
  const gateway = await startDataPlane(at.stage)
  at.end = gateway.end
  at.own = await at.stage.person('thousand')
  await at.stage.buyPack(at.own)
  const { book } = at.own
  const { keys, db } = at.stage
  const issued = await db.transaction((tx) => keys.issue(tx, book))
  await db.transaction((tx) => keys.confirm(tx, book, issued.keyId))
  const draw = random(seed)
  const send = (count: number, small: Prices) =>
    many(count, () => ask(gateway.url, issued.plain, draw, small))
  await send(REQUESTS / 2, first)
  await at.stage.ledger.aggregateUsage()
  await changePrices(at.stage)
  await send(REQUESTS / 2, second)
  await settled()
})
after(async () => {
  await at.end?.()
  await at.stage.end()
})

test(`the owner sees the usage that the replies reported (seed ${seed})`, async () => {
  const lines = await agree()
  assert.equal(lines.length, asked.size)
  for (const ending of ['complete', 'client_left', 'refused', 'upstream_failed'] as const) {
    assert.ok(
      lines.some((line) => line.ending === ending),
      `none ended ${ending}`,
    )
  }
  assert.equal(await at.stage.ledger.aggregateUsage(), true)
  assert.deepEqual(await wholeLog(), lines)
  await addsUp(lines, await statement())
})

test('a request of another account is as unknown as one that does not exist', async () => {
  const stranger = await at.stage.person('stranger')
  const [id = ''] = asked.keys()
  const never = `${id.slice(0, -1)}${id.endsWith('0') ? 1 : 0}`
  for (const [who, number] of [
    [stranger, id],
    [at.own, never],
    [at.own, 'req_1'],
    [at.own, `${id}%27`],
  ] as const) {
    assert.equal(await who.refusal(`GET /api/log/${number}`), '404 request_unknown', number)
  }
  assert.deepEqual((await stranger.expectOk<LogPage>('GET /api/log')).body, {
    ...{ lines: [], next: null, models: [] },
  })
  assert.equal(await at.stage.browser().refusal('GET /api/log'), '401 session_missing')
  assert.equal(await at.stage.browser().refusal('GET /api/statement'), '401 session_missing')
})

test('an invalid or too long period is refused', async () => {
  for (const query of [
    ...['from=2026-02-30', 'from=2026-11-02&to=2026-11-01', 'from=2020-01-01', 'to=tomorrow'],
    ...['step=month', 'step=hour&from=2026-01-01&to=2026-01-15'],
  ]) {
    assert.equal(await at.own.refusal(`GET /api/usage?${query}`), '400 field_invalid', query)
  }
  for (const query of [
    'before=x',
    'before=0',
    'limit=1000',
    'ending=well',
    'from=1',
    'hour=13:00',
  ]) {
    assert.equal(await at.own.refusal(`GET /api/log?${query}`), '400 field_invalid', query)
  }
  assert.equal(await at.own.refusal('GET /api/statement?from=2020-01-01'), '400 field_invalid')
})

/** Compares log, arithmetic, chart, statement and balance with each other and with the replies. */
async function agree(): Promise<LogLine[]> {
  const lines = await wholeLog()
  const rows = await statement()
  const byNumber = new Map(rows.map((row) => [row[6], row]))
  await many(lines.length, async (i) => {
    const line = lines[i] as LogLine
    const { body } = await at.own.expectOk<LogDetails>(`GET /api/log/${line.id}`)
    const { parts, priced, writtenOff, balanceAfter, ...rest } = body
    const known = asked.get(line.id)
    assert.ok(known, `${line.id} was never asked`)
    const { catalogueVersion: _, messageId, list, ...more } = rest
    const { answeredBy, passes, uses, unlisted, ...again } = more
    assert.deepEqual(again, line)
    assert.deepEqual([answeredBy, passes, uses, unlisted], [null, [], [], []])
    assert.equal(list?.name, parts.length === 0 ? undefined : '')
    assert.equal(line.model, known.model)
    const sum = parts.reduce((all, part) => all + micro(part.credits.exact), 0n)
    for (const { tokens, weight, credits } of parts) {
      assert.equal(BigInt(tokens) * micro(weight), micro(credits.exact))
    }
    assert.equal(sum, micro(priced.exact))
    assert.equal(micro(priced.exact), micro(line.credits.exact) + micro(writtenOff.exact))
    if (line.ending === 'complete') {
      assert.equal(line.credits.exact, text(priceOf(known)), line.id)
      assert.match(messageId ?? '', /^msg_/)
    } else if (line.ending !== 'client_left') assert.equal(line.credits.exact, '0')
    const row = byNumber.get(line.id) ?? []
    assert.deepEqual(
      [row[3], row[4], row[5], row[7] || '0', row[8] || '0'],
      [text(-micro(line.credits.exact)), balanceAfter.exact, line.model, line.input, line.output],
    )
    assert.equal(new Date(row[1] ?? '').toISOString(), line.at)
  })
  await addsUp(lines, rows)
  return lines
}

async function addsUp(lines: readonly LogLine[], rows: string[][]): Promise<void> {
  const total = lines.reduce((all, line) => all + micro(line.credits.exact), 0n)
  const chart = await at.own.expectOk<Usage>('GET /api/usage?step=hour&zone=Asia/Kolkata')
  const { totals, buckets } = chart.body
  const uses = buckets.flatMap((bucket) => bucket.series)
  for (const used of [totals, uses]) {
    const sum = (pick: (one: (typeof used)[number]) => string) =>
      used.reduce((all, one) => all + BigInt(pick(one)), 0n)
    assert.equal(
      sum(({ requests }) => requests),
      BigInt(lines.length),
    )
    const free = lines.filter(({ ending }) => ending !== 'complete' && ending !== 'client_left')
    assert.equal(
      sum(({ free: count }) => count),
      BigInt(free.length),
    )
    const credits = used.reduce((all, one) => all + micro(one.credits.exact), 0n)
    assert.equal(credits, total)
  }
  const home = await at.own.expectOk<Home>('GET /api/home')
  const balance = micro(home.body.balance.available.exact)
  assert.equal(balance, 35_000_000_000_000n - total)
  const added = rows.reduce((all, row) => all + micro(row[3] ?? ''), 0n)
  assert.equal(added, balance)
  assert.equal(rows.at(-1)?.[4], home.body.balance.available.exact)
}

async function wholeLog(): Promise<LogLine[]> {
  const lines: LogLine[] = []
  for (let next: string | null = ''; next !== null; ) {
    const before: string = next === '' ? '' : `&before=${next}`
    const { body } = await at.own.expectOk<LogPage>(`GET /api/log?limit=77${before}`)
    assert.deepEqual([...body.models].sort(), [...models].sort())
    lines.push(...body.lines)
    next = body.next
  }
  return lines
}

/** Rows of the statement without its header; the time zone is 15 minutes off a whole hour. */
async function statement(): Promise<string[][]> {
  const response = await fetch(`${at.stage.url}/api/statement?zone=Asia/Kathmandu`, {
    headers: at.own.headers(),
  })
  assert.equal(response.headers.get('content-type'), 'text/csv; charset=utf-8')
  assert.match(response.headers.get('content-disposition') ?? '', /^attachment; .*\.csv"$/)
  const bytes = Buffer.from(await response.arrayBuffer())
  assert.deepEqual([...bytes.subarray(0, 3)], [0xef, 0xbb, 0xbf])
  const [head = [], ...rows] = readCsv(bytes.toString().slice(1))
  for (const row of rows) {
    assert.equal(row.length, head.length)
    assert.match(row[1] ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+05:45$/)
  }
  return rows
}

function readCsv(csv: string): string[][] {
  assert.ok(csv.endsWith('\r\n'))
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy
  const rows: string[][] = [[]]
  for (const [, quoted, plain = '', end] of csv.matchAll(field)) {
    rows.at(-1)?.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    if (end === '\r\n') rows.push([])
  }
  return rows.slice(0, -1)
}

/** One random request; some are cut, refused or abandoned. */
async function ask(url: string, key: string, draw: () => number, small: Prices): Promise<void> {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(draw() * list.length)] as T
  const model = pick(models)
  const stream = draw() < 0.5
  const luck = draw()
  const isLeft = stream && luck < 0.06
  const fault = isLeft
    ? 'pace-ms=20'
    : luck < 0.09
      ? 'status=400'
      : luck < 0.11
        ? 'reset-at=300'
        : 'none'
  const marks = [undefined, { type: 'ephemeral' }, { type: 'ephemeral', ttl: '1h' }]
  const system = [1, 2].map((n) => {
    const mark = pick(marks)
    const words = `${n} ${'word '.repeat(20 * Math.ceil(draw() * 10))}`
    return { type: 'text', text: words, ...(mark && { cache_control: mark }) }
  })
  // A short cache marker may not come before a long one.
  system.sort((a, b) => Number(isLong(b)) - Number(isLong(a)))
  const content = `[[reply: text ${1 + Math.floor(draw() * 60)}]] [[fault: ${fault}]]`
  const body = { model, stream, max_tokens: 200, system, messages: [{ role: 'user', content }] }
  const leaving = new AbortController()
  const response = await fetch(`${url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: leaving.signal,
  })
  const id = response.headers.get('request-id') ?? ''
  // In the example, the dated id takes its prices over from model-small.
  const others = model === 'model-medium' ? medium : first
  const prices = model.startsWith('model-small') ? small : others
  const known: Asked = { model, prices, reported: null }
  asked.set(id, known)
  if (isLeft) {
    await response.body?.getReader().read()
    leaving.abort()
    return
  }
  const bytes = await response.bytes().catch(() => undefined)
  if (bytes === undefined || fault !== 'none') return
  known.reported = usageOf(Buffer.from(bytes), stream)
}

function isLong(block: { cache_control?: object }): boolean {
  return block.cache_control !== undefined && 'ttl' in block.cache_control
}

function usageOf(bytes: Buffer, isStream: boolean): ReportedUsage {
  if (!isStream) return (JSON.parse(bytes.toString()) as { usage: ReportedUsage }).usage
  const events = eventsOf(bytes)
  const start = events.find(({ type }) => type === 'message_start')?.message?.usage ?? {}
  return { ...start, ...events.findLast(({ usage }) => usage !== undefined)?.usage }
}

function priceOf({ prices, reported }: Asked): bigint {
  assert.ok(reported, 'a complete reply reports its usage')
  const { ephemeral_5m_input_tokens: short = 0, ephemeral_1h_input_tokens: long = 0 } =
    reported.cache_creation ?? {}
  return (
    BigInt(reported.input_tokens ?? 0) * 1_000_000n +
    BigInt(reported.output_tokens ?? 0) * prices.output +
    BigInt(reported.cache_read_input_tokens ?? 0) * prices.read +
    BigInt(short) * prices.short +
    BigInt(long) * prices.long
  )
}

/** Exact decimal text to millionths. */
function micro(decimal: string): bigint {
  const [, sign = '', whole = '0', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(decimal) ?? []
  return BigInt(`${sign}${whole}${fraction.padEnd(6, '0')}`)
}

async function many(count: number, work: (i: number) => Promise<void>): Promise<void> {
  const state = { next: 0 }
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (state.next < count) {
        state.next += 1
        await work(state.next - 1)
      }
    }),
  )
}

/** Waits until nothing is held: requests that clients abandoned are charged a little later. */
async function settled(): Promise<void> {
  while ((await at.stage.ledger.balance(at.own.book))?.held !== 0n) {
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

async function changePrices({ pricing }: CabinetStage): Promise<void> {
  const file = join(import.meta.dirname, '../../../catalogue.example.yaml')
  const [head, tail = ''] = (await readFile(file, 'utf8')).split(/(?<=id: model-small\n)/)
  const changed = `${head}${tail
    .replace('coefficient: 5', 'coefficient: 0.333333')
    .replace('cacheRead: 0.1', 'cacheRead: 0.000001')
    .replace('cacheWrite5m: 1.25', 'cacheWrite5m: 1.000001')
    .replace('cacheWrite1h: 2', 'cacheWrite1h: 0')}`
  const read = pricing.parse(changed)
  if ('problems' in read) throw new Error(read.problems.join('\n'))
  await pricing.apply(read.catalogue, { by: 'a test', note: '' })
}

/** The gateway over the stage's own modules. */
