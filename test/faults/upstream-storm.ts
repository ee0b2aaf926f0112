// Five upstreams, of which every second a random one falls ill or recovers, under steady load: no
// reply is glued together, begun again after its first byte or charged twice; requests succeed
// whenever an upstream is well; and a sick one is asked at most once a second. Meanwhile every
// upstream limits another model and the free path for a minute, again and again.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Agent } from 'undici'
import type { Received } from '../../stand-ins/vendor/record.ts'
import type { Vendor } from '../../stand-ins/vendor/vendor.ts'
import { createTestGateway, type TestGateway } from '../stages/gateway.ts'
import type { Fault } from '../support/fault.ts'
import { hold, percentile, random, sleep } from '../support/fault.ts'
import { type Answer, call } from './support/gateway-caller.ts'

const NAMES = ['amber', 'basin', 'cedar', 'delta', 'ember']
// All parts share one process: on a busy machine what is well may need a second for its status.
const HEADERS_MS = 3_000
const IDLE_MS = 3_000
/**
 * Requests a second; how long one may still be on its way when a breaker opens or closes; how late
 * one probe may come after another. With --full, as on a quiet machine. The short form runs beside
 * other work: there 100 a second let single replies take longer than HEADERS_MS.
 */
const FULL = { perSecond: 100, edgeMs: 100, lateMs: 250 }
const SHORT = { perSecond: 40, edgeMs: 500, lateMs: 1_000 }

/** Ways to be ill before the first byte: another upstream can still answer. */
const early = [
  'status=429',
  'status=429 retry-after-ms=1500',
  'status=529',
  'status=500',
  'status=503',
  'headers-ms=forever',
  'drop',
]
/** And after it: what the client has seen cannot be taken back, so the reply breaks off, free. */
const late = ['reset-at=1100', 'silence-after=6 pace-ms=1']

/** For a whole minute, so that the gateway may not ask again during the short form of the storm. */
const LIMITED = 'status=429 retry-after=60'
const COUNT_PATH = '/v1/messages/count_tokens'

/**
 * What an upstream asked for is kept also when it gets well before: until then nobody knows. A 429
 * without a time counts as a second.
 */
const askedMs = (faultWords = '') =>
  Number(/retry-after-ms=(\d+)/.exec(faultWords)?.[1] ?? (faultWords === 'status=429' ? 1_000 : 0))

type Spell = { readonly fromMs: number; toMs: number; readonly fault: string }
type Sent = { readonly fromMs: number; toMs: number; answer: Answer | undefined }
type View = { readonly atMs: number; readonly isOpen: boolean }

type Storm = {
  readonly gateway: TestGateway
  /** What each stand-in went through, one spell after the other. */
  readonly spells: Spell[][]
  /** When each breaker opened and closed. */
  readonly views: View[][]
  readonly sent: Map<number, Sent>
}

const now = () => performance.timeOrigin + performance.now()

export const fault: Fault = async ({ isFull, seed, say }) => {
  const seconds = isFull ? 300 : 20
  const pace = isFull ? FULL : SHORT
  const gateway = await createTestGateway({
    upstreams: NAMES.map((name) => ({ name })),
    headersTimeoutMs: HEADERS_MS,
    idleTimeoutMs: IDLE_MS,
  })
  const storm: Storm = {
    gateway,
    spells: NAMES.map(() => []),
    views: NAMES.map(() => []),
    sent: new Map(),
  }
  try {
    NAMES.forEach((_, i) => {
      turn(storm, i, '')
    })
    // All parts share this process: what it does not get round to for a second looks like illness.
    const loop = monitorEventLoopDelay()
    loop.enable()
    const watching = setInterval(() => watch(storm), 2)
    // Two generators: a seed brings the same weather back, however fast the requests come.
    await Promise.all([
      weather(storm, seconds, random(seed)),
      load(storm, seconds, pace.perSecond, random(seed + 1)),
      limits(gateway, seconds),
    ])
    clearInterval(watching)
    loop.disable()
    say(`the longest turn of the event loop took ${Math.round(loop.max / 1e6)} ms`)
    NAMES.forEach((_, i) => {
      turn(storm, i, '')
    })
    const records = recordsOf(gateway.vendors)
    const replies = judgeReplies(storm, records)
    say(`${storm.sent.size} requests, ${replies.whole} whole, ${replies.brokenOff} broken off`)
    const charged = await judgeCharges(storm)
    const success = judgeSuccess(storm, records)
    const probes = judgeProbes(storm, pace)
    const took = [...storm.sent.values()].map((one) => one.toMs - one.fromMs)
    const p99Ms = Math.round(percentile(took, 0.99))
    const busyMs = Math.round(loop.max / 1e6)
    const judged = { ...replies, ...charged, ...success, ...probes }
    return { seconds, sent: storm.sent.size, ...judged, p99Ms, busyMs }
  } finally {
    await gateway.end()
  }
}

/** The stand-in falls ill in this way, or, without words, is well. */
function turn({ gateway, spells }: Storm, i: number, faultWords: string): void {
  const atMs = now()
  const last = spells[i]?.at(-1)
  if (last !== undefined) last.toMs = atMs
  spells[i]?.push({ fromMs: atMs, toMs: Number.POSITIVE_INFINITY, fault: faultWords })
  gateway.vendors[i]?.mode(
    { path: COUNT_PATH, fault: LIMITED },
    { fault: faultWords, reply: `say ${JSON.stringify(textOf(i))}` },
  )
}

/** What only this stand-in says, word by word. */
function textOf(i: number): string {
  return Array.from({ length: 24 }, (_, word) => `${NAMES[i]}-${word}`).join(' ')
}

function watch({ gateway, views }: Storm): void {
  for (const [i, { state }] of gateway.upstreams.views().entries()) {
    const isOpen = state !== 'closed'
    if (views[i]?.at(-1)?.isOpen !== isOpen) views[i]?.push({ atMs: now(), isOpen })
  }
}

async function weather(storm: Storm, seconds: number, draw: () => number): Promise<void> {
  const pick = <T>(list: readonly T[]) => list[Math.floor(draw() * list.length)] as T
  for (let second = 0; second < seconds; second++) {
    await sleep(1_000)
    const i = Math.floor(draw() * NAMES.length)
    const dice = draw()
    turn(storm, i, dice < 0.4 ? '' : dice < 0.9 ? pick(early) : pick(late))
  }
}

async function load(
  { gateway, sent }: Storm,
  seconds: number,
  perSecond: number,
  draw: () => number,
): Promise<void> {
  const accounts = await Promise.all(Array.from({ length: 10 }, () => gateway.account(10n ** 10n)))
  const agent = new Agent()
  const startedMs = now()
  const asks: Promise<void>[] = []

  async function one(number: number): Promise<void> {
    const key = accounts[number % accounts.length]?.key ?? ''
    const isStream = draw() < 0.5
    const entry: Sent = { fromMs: now(), toMs: Number.NaN, answer: undefined }
    sent.set(number, entry)
    const faultWords = isStream && draw() < 0.5 ? `pace-ms=${Math.ceil(draw() * 15)}` : ''
    const asked = { number, key, isStream, fault: faultWords }
    entry.answer = await call(agent, gateway.url, asked)
    entry.toMs = now()
  }

  while (now() - startedMs < seconds * 1_000) {
    const due = ((now() - startedMs) / 1_000) * perSecond
    while (sent.size < due) asks.push(one(sent.size + 1))
    await sleep(2)
  }
  await Promise.all(asks)
  await agent.close()
  await Promise.all(accounts.map(({ book }) => gateway.settled(book)))
}

/** Once a second somebody else runs into the limits: on the free path, and with another model. */
async function limits({ url, account }: TestGateway, seconds: number): Promise<void> {
  const [poor, rich] = await Promise.all([account(0), account(10n ** 10n)])
  const agent = new Agent()
  const send = async (key: string, path: string, body: object) => {
    const headers = { 'content-type': 'application/json', 'x-api-key': key }
    const sent = { origin: url, path, method: 'POST' as const, headers, body: JSON.stringify(body) }
    await (await agent.request(sent)).body.dump()
  }
  const messages = [{ role: 'user', content: `[[fault: ${LIMITED}]]` }]
  for (let second = 0; second < seconds; second++) {
    await Promise.all([
      send(poor.key, COUNT_PATH, { model: 'model-large', messages }),
      send(rich.key, '/v1/messages', { model: 'model-medium', max_tokens: 9, messages }),
      sleep(1_000),
    ])
  }
  await agent.close()
}

type Asked = Received & { readonly vendor: number }

/** What the stand-ins received, by the number of the request, in order of arrival. */
function recordsOf(vendors: readonly Vendor[]): Map<number, Asked[]> {
  const all = vendors.flatMap((one, vendor) => one.requests.map((got) => ({ ...got, vendor })))
  const byNumber = Map.groupBy(all, (one) => Number(/"content":"(\d+) /.exec(`${one.body}`)?.[1]))
  for (const records of byNumber.values()) records.sort((a, b) => a.arrivedAt - b.arrivedAt)
  return byNumber
}

/** Every reply is what exactly one stand-in said, and nobody was asked after that one. */
function judgeReplies({ sent }: Storm, records: Map<number, Asked[]>) {
  let whole = 0
  let brokenOff = 0
  let repeated = 0
  for (const [number, { answer }] of sent) {
    const asked = records.get(number) ?? []
    const begun = asked.filter((one) => one.status === 200)
    const log = asked.map((one) => `${NAMES[one.vendor]} ${one.status} ${one.outcome}`).join(', ')
    hold(begun.length <= 1, `no reply is begun twice (${number}: ${log})`)
    const [first] = begun
    hold(
      first === undefined || asked.every((one) => one.arrivedAt <= first.arrivedAt),
      `nobody is asked again after the first byte (${number}: ${log})`,
    )
    repeated += Math.max(0, asked.length - 1)
    const text = first === undefined ? '' : textOf(first.vendor)
    if (answer?.isWhole) {
      hold(answer.text === text, `a reply is one stand-in's own (${number}: ${answer.text})`)
      hold(first?.outcome === 'finished', `and was sent whole (${number})`)
      whole += 1
    } else {
      hold(text.startsWith(answer?.text ?? ''), `a part of a reply is one stand-in's (${number})`)
      if (first !== undefined) brokenOff += 1
    }
  }
  return { whole, brokenOff, repeated }
}

/** What came whole is charged once, as complete; nothing else is charged. */
async function judgeCharges({ gateway, sent }: Storm) {
  const { rows } = await gateway.database.db.query(
    `select output::int4 as output, ending::text as ending from entries where kind = 'charge'`,
  )
  const charges = rows as { output: number; ending: string }[]
  const numbers = new Set(charges.map((one) => one.output))
  hold(numbers.size === charges.length, `none is charged twice (${charges.length - numbers.size})`)
  for (const [number, { answer }] of sent) {
    const isWhole = answer?.isWhole === true
    hold(numbers.has(number) === isWhole, `whole and charged are the same (${number})`)
  }
  hold(
    charges.every((one) => one.ending === 'complete'),
    'every charge is of a complete reply',
  )
  const findings = await gateway.ledger.audit('all')
  hold(findings.length === 0, `the audit is empty (${findings[0]?.rule})`)
  return { charged: charges.length }
}

/** A request that failed had no upstream that was well from its beginning to its end. */
function judgeSuccess({ sent, spells }: Storm, records: Map<number, Asked[]>) {
  const isWell = (fromMs: number, toMs: number) =>
    spells.some((all) =>
      all.some((one, i) => {
        const knownMs = one.fromMs + askedMs(all[i - 1]?.fault)
        return one.fault === '' && knownMs <= fromMs && one.toMs >= toMs
      }),
    )
  let failed = 0
  let mustSucceed = 0
  for (const [number, { fromMs, toMs, answer }] of sent) {
    const isAnyWell = isWell(fromMs, toMs)
    if (isAnyWell) mustSucceed += 1
    const isBroken = records.get(number)?.some((one) => one.status === 200)
    if (answer?.isWhole || isBroken) continue
    failed += 1
    hold(!isAnyWell, `requests succeed while one is well (${number}: ${answer?.error})`)
  }
  hold(mustSucceed > sent.size / 3, `most of the time one was well (${mustSucceed})`)
  return { failed, mustSucceed }
}

/**
 * While a breaker is open and its stand-in refuses, requests there are a second apart. One that
 * begins its replies and breaks them off is in use between a probe's beginning and its end.
 */
function judgeProbes({ gateway, spells, views }: Storm, { edgeMs, lateMs }: typeof FULL) {
  let probes = 0
  let openMs = 0
  gateway.vendors.forEach((vendor, i) => {
    const seen = views[i] ?? []
    for (const [at, { atMs, isOpen }] of seen.entries()) {
      if (!isOpen) continue
      // Requests under way when it opens or closes are not probes; nor is what our watch missed.
      const [fromMs, toMs] = [atMs + edgeMs, (seen[at + 1]?.atMs ?? now()) - edgeMs]
      openMs += Math.max(0, toMs - fromMs)
      const arrivals = vendor.requests
        .filter((one) => one.url === '/v1/messages')
        .map((one) => one.arrivedAt)
        .filter((ms) => ms > fromMs && ms < toMs)
        .filter((ms) => {
          const spell = spells[i]?.find((one) => one.fromMs <= ms && one.toMs > ms)
          return spell !== undefined && early.includes(spell.fault)
        })
      probes += arrivals.length
      for (const [k, ms] of arrivals.entries()) {
        // Sent a second apart; how long one is on its way through a busy process differs.
        const seconds = (ms - (arrivals[0] ?? 0) + lateMs) / 1_000
        hold(k <= seconds, `a sick upstream is asked once a second (${NAMES[i]}: ${arrivals})`)
      }
    }
  })
  hold(probes > 0, 'sick upstreams were probed')
  return { probes, openSeconds: Math.round(openMs / 1_000) }
}
