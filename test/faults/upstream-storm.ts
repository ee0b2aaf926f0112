// Five upstreams under steady load; every second a random one starts to fail or recovers. No reply
// mixes the text of two upstreams, starts again after its first byte or is charged twice. Requests
// succeed whenever one upstream is healthy, unless one got the whole request and gave no status: no
// other may generate it again. A failing upstream is probed at most once a second.
// Meanwhile every upstream answers 429 with a minute's wait for another model and the free path.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Agent } from 'undici'
import type { Received } from '../../stand-ins/vendor/record.ts'
import type { Vendor } from '../../stand-ins/vendor/vendor.ts'
import { createTestGateway, type TestGateway } from '../stages/gateway.ts'
import type { Drill } from '../support/drill.ts'
import { ensure, percentile, random, sleep } from '../support/drill.ts'
import { type Answer, call } from './support/gateway-caller.ts'

const NAMES = ['amber', 'basin', 'cedar', 'delta', 'ember']
// Gateway and stand-ins share one process: on a busy machine a healthy reply may take a second.
const HEADERS_MS = 3_000
const IDLE_MS = 3_000
/**
 * Requests a second; how long a request may still be under way when a breaker opens or closes; the
 * tolerance between two probes. --full expects a quiet machine. The short form runs beside other
 * work: there, at 100 a second, single replies took longer than HEADERS_MS.
 */
const FULL = { perSecond: 100, edgeMs: 100, lateMs: 250 }
const SHORT = { perSecond: 40, edgeMs: 500, lateMs: 1_000 }

/** Faults without a status: the upstream may have accepted the request. */
const lost = ['headers-ms=forever', 'drop']
/** Faults before the first byte: after an error status another upstream can still answer. */
const early = [
  'status=429',
  'status=429 retry-after-ms=1500',
  'status=529',
  'status=500',
  'status=503',
  ...lost,
]
/** Faults after the first byte, which the client has already: the reply ends early and is free. */
const late = ['reset-at=1100', 'silence-after=6 pace-ms=1']

/** A minute, so that the gateway must not ask again during the short form. */
const LIMITED = 'status=429 retry-after=60'
const COUNT_PATH = '/v1/messages/count_tokens'

/**
 * The wait that an upstream requested. The gateway keeps to it even if the upstream recovers
 * earlier. A 429 without a time counts as a second.
 */
const askedMs = (faultDirective = '') =>
  Number(
    /retry-after-ms=(\d+)/.exec(faultDirective)?.[1] ??
      (faultDirective === 'status=429' ? 1_000 : 0),
  )

type Spell = { readonly fromMs: number; toMs: number; readonly fault: string }
type Sent = { readonly fromMs: number; toMs: number; answer: Answer | undefined }
type View = { readonly atMs: number; readonly isOpen: boolean }

type Storm = {
  readonly gateway: TestGateway
  /** The faults of each stand-in, in order; an empty fault means healthy. */
  readonly spells: Spell[][]
  /** When each breaker opened and closed. */
  readonly views: View[][]
  readonly sent: Map<number, Sent>
}

const now = () => performance.timeOrigin + performance.now()

export const drill: Drill = async ({ isFull, seed, say }) => {
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
    // All parts share this process: if its event loop stalls, a healthy upstream looks failing.
    const loop = monitorEventLoopDelay()
    loop.enable()
    const watching = setInterval(() => watch(storm), 2)
    // Two generators, so that a seed repeats the same faults whatever the speed of the requests.
    await Promise.all([
      weather(storm, seconds, random(seed)),
      load(storm, seconds, pace.perSecond, random(seed + 1)),
      limits(gateway, seconds),
    ])
    clearInterval(watching)
    loop.disable()
    say(`the longest event loop delay was ${Math.round(loop.max / 1e6)} ms`)
    NAMES.forEach((_, i) => {
      turn(storm, i, '')
    })
    const records = recordsOf(gateway.vendors)
    const replies = checkReplies(storm, records)
    say(`${storm.sent.size} requests, ${replies.whole} complete, ${replies.brokenOff} ended early`)
    const charged = await checkCharges(storm)
    const success = checkSuccess(storm, records)
    const probes = checkProbes(storm, pace)
    const took = [...storm.sent.values()].map((one) => one.toMs - one.fromMs)
    const p99Ms = Math.round(percentile(took, 0.99))
    const busyMs = Math.round(loop.max / 1e6)
    const checked = { ...replies, ...charged, ...success, ...probes }
    return { seconds, sent: storm.sent.size, ...checked, p99Ms, busyMs }
  } finally {
    await gateway.end()
  }
}

/** Switches the stand-in to this fault; empty: to healthy. */
function turn({ gateway, spells }: Storm, i: number, faultDirective: string): void {
  const atMs = now()
  const last = spells[i]?.at(-1)
  if (last !== undefined) last.toMs = atMs
  spells[i]?.push({ fromMs: atMs, toMs: Number.POSITIVE_INFINITY, fault: faultDirective })
  gateway.vendors[i]?.mode(
    { path: COUNT_PATH, fault: LIMITED },
    { fault: faultDirective, reply: `say ${JSON.stringify(textOf(i))}` },
  )
}

/** A text that only this stand-in replies with. */
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
    const faultDirective = isStream && draw() < 0.5 ? `pace-ms=${Math.ceil(draw() * 15)}` : ''
    const asked = { number, key, isStream, fault: faultDirective }
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

/** Once a second two other accounts get a 429: on the free path, and with another model. */
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

/** The requests that the stand-ins received, by number, in order of arrival. */
function recordsOf(vendors: readonly Vendor[]): Map<number, Asked[]> {
  const all = vendors.flatMap((one, vendor) => one.requests.map((got) => ({ ...got, vendor })))
  const byNumber = Map.groupBy(all, (one) => Number(/"content":"(\d+) /.exec(`${one.body}`)?.[1]))
  for (const records of byNumber.values()) records.sort((a, b) => a.arrivedAt - b.arrivedAt)
  return byNumber
}

/** Every reply comes from exactly one stand-in, and no other was asked after it. */
function checkReplies({ sent }: Storm, records: Map<number, Asked[]>) {
  let whole = 0
  let brokenOff = 0
  let repeated = 0
  for (const [number, { answer }] of sent) {
    const asked = records.get(number) ?? []
    const begun = asked.filter((one) => one.status === 200)
    const log = asked.map((one) => `${NAMES[one.vendor]} ${one.status} ${one.outcome}`).join(', ')
    ensure(begun.length <= 1, `no reply starts twice (${number}: ${log})`)
    const [first] = begun
    ensure(
      first === undefined || asked.every((one) => one.arrivedAt <= first.arrivedAt),
      `no upstream is asked after the first byte (${number}: ${log})`,
    )
    ensure(
      asked.slice(0, -1).every((one) => one.status !== null),
      `no upstream is asked after one that gave no status (${number}: ${log})`,
    )
    repeated += Math.max(0, asked.length - 1)
    const text = first === undefined ? '' : textOf(first.vendor)
    if (answer?.isWhole) {
      ensure(
        answer.text === text,
        `a reply is the text of one stand-in (${number}: ${answer.text})`,
      )
      ensure(first?.outcome === 'finished', `its stand-in sent it to the end (${number})`)
      whole += 1
    } else {
      ensure(
        text.startsWith(answer?.text ?? ''),
        `a part of a reply comes from one stand-in (${number})`,
      )
      if (first !== undefined) brokenOff += 1
    }
  }
  return { whole, brokenOff, repeated }
}

/** Complete replies are charged once, as complete; no other request is charged. */
async function checkCharges({ gateway, sent }: Storm) {
  const { rows } = await gateway.database.db.query(
    `select output::int4 as output, ending::text as ending from entries where kind = 'charge'`,
  )
  const charges = rows as { output: number; ending: string }[]
  const numbers = new Set(charges.map((one) => one.output))
  ensure(
    numbers.size === charges.length,
    `no request is charged twice (${charges.length - numbers.size})`,
  )
  for (const [number, { answer }] of sent) {
    const isWhole = answer?.isWhole === true
    ensure(numbers.has(number) === isWhole, `exactly the complete replies are charged (${number})`)
  }
  ensure(
    charges.every((one) => one.ending === 'complete'),
    'every charge is of a complete reply',
  )
  const findings = await gateway.ledger.audit('all')
  ensure(findings.length === 0, `the audit is empty (${findings[0]?.rule})`)
  return { charged: charges.length }
}

/**
 * A request may fail only if no upstream was healthy from its beginning to its end, or if one got
 * it and gave no status.
 */
function checkSuccess({ sent, spells }: Storm, records: Map<number, Asked[]>) {
  const isWell = (fromMs: number, toMs: number) =>
    spells.some((all) =>
      all.some((one, i) => {
        const knownMs = one.fromMs + askedMs(all[i - 1]?.fault)
        return one.fault === '' && knownMs <= fromMs && one.toMs >= toMs
      }),
    )
  let failed = 0
  let unanswered = 0
  let mustSucceed = 0
  for (const [number, { fromMs, toMs, answer }] of sent) {
    const isAnyWell = isWell(fromMs, toMs)
    if (isAnyWell) mustSucceed += 1
    const isBroken = records.get(number)?.some((one) => one.status === 200)
    if (answer?.isWhole || isBroken) continue
    if (records.get(number)?.some((one) => one.status === null)) {
      unanswered += 1
      continue
    }
    failed += 1
    ensure(
      !isAnyWell,
      `requests succeed while one upstream is healthy (${number}: ${answer?.error})`,
    )
  }
  ensure(
    mustSucceed > sent.size / 3,
    `an upstream was healthy for a third of the requests (${mustSucceed})`,
  )
  return { failed, unanswered, mustSucceed }
}

/**
 * While a breaker is open and its stand-in refuses, requests to it are a second apart. Faults after
 * the first byte do not count: such an upstream is in use from a probe's first byte to its end.
 */
function checkProbes({ gateway, spells, views }: Storm, { edgeMs, lateMs }: typeof FULL) {
  let probes = 0
  let openMs = 0
  gateway.vendors.forEach((vendor, i) => {
    const seen = views[i] ?? []
    for (const [at, { atMs, isOpen }] of seen.entries()) {
      if (!isOpen) continue
      // Leave out requests that were under way when it opened or closed, within `edgeMs`.
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
        // They are sent a second apart, but take different times through a busy process.
        const seconds = (ms - (arrivals[0] ?? 0) + lateMs) / 1_000
        ensure(k <= seconds, `a failing upstream is asked once a second (${NAMES[i]}: ${arrivals})`)
      }
    }
  })
  ensure(probes > 0, 'failing upstreams were probed')
  return { probes, openSeconds: Math.round(openMs / 1_000) }
}
