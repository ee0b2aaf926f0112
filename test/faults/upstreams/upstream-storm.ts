// Four credentials and three models under steady load; several times a second one credential starts
// to fail for one model, or recovers: 429, 529, 500, no funds, no answer, a reset, a broken reply.
// Requests succeed whenever one credential is well for their model, no model waits for another, no
// reply mixes two upstreams or is generated twice, none is asked after one that got the whole
// request and gave no status, nothing that failed is charged. Every token count is answered 429.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Received } from '../../../stand-ins/vendor/record.ts'
import { createTestGateway, type TestGateway } from '../../stages/gateway.ts'
import { type Drill, ensure, percentile, random, sleep } from '../../support/drill.ts'
import { COUNT_PATH, createCallers, MODELS, now, repeat, type Sent, UNPAID } from './callers.ts'

const NAMES = ['amber', 'basin', 'cedar', 'delta']
const ACCOUNTS = 10
// Gateway and stand-ins share one process: on a busy machine a healthy reply may take a second.
const HEADERS_MS = 3_000
/** The full form sends 30,000 requests; the short one runs beside other work. */
const FULL = { requests: 30_000, perSecond: 120 }
const SHORT = { requests: 480, perSecond: 40 }
const WEATHER_MS = 300
/** Of the requests that had a well credential and were not cut after they were sent. */
const SUCCESS_MIN = 0.999

/** Answers after which another upstream may be asked, and how long the gateway then waits. */
const refusals: readonly (readonly [fault: string, pauseMs: number])[] = [
  ['status=429', 1_000],
  ['status=429 retry-after-ms=2500', 2_500],
  ['status=529', 1_000],
  ['status=529 retry-after=2', 2_000],
  ['status=500', 0],
  ['status=503', 0],
]
/** The request was sent, and may have been accepted. */
const cuts = ['drop', 'headers-ms=forever', 'reset-at=400']
/** A refused credential is tried once a minute. */
const UNPAID_MS = 61_000

type Spell = {
  readonly fromMs: number
  toMs: number
  readonly fault: string
  /** How long after its end the gateway may still avoid the credential. */
  readonly pauseMs: number
}
type Sky = ReturnType<typeof createSky>
type Asked = Received & { readonly vendor: number }

export const drill: Drill = async ({ isFull, seed, say }) => {
  const { requests, perSecond } = isFull ? FULL : SHORT
  const gateway = await createTestGateway({
    upstreams: NAMES.map((name) => ({ name })),
    headersTimeoutMs: HEADERS_MS,
    idleTimeoutMs: HEADERS_MS,
  })
  const callers = await createCallers(gateway, ACCOUNTS + 1)
  const sky = createSky(gateway)
  try {
    const loop = monitorEventLoopDelay()
    loop.enable()
    const ms = (requests / perSecond) * 1_000
    // Two generators, so that a seed repeats the same faults whatever the speed of the requests.
    const draw = random(seed + 1)
    const under: Promise<unknown>[] = []
    const send = (i: number) =>
      callers.send(i % ACCOUNTS, {
        model: MODELS[Math.floor(draw() * 3)] as string,
        isStream: draw() < 0.5,
      })
    const load = async () => {
      const fromMs = now()
      while (under.length < requests) {
        const due = Math.min(requests, ((now() - fromMs) / 1_000) * perSecond)
        while (under.length < due) under.push(send(under.length))
        await sleep(2)
      }
      await Promise.all(under)
    }
    const counts = { tokenCounts: 0 }
    await Promise.all([
      load(),
      sky.weather(ms, random(seed)),
      repeat(
        2,
        ms,
        async () => {
          const status = await callers.count(ACCOUNTS, MODELS[0] ?? '')
          counts.tokenCounts += 1
          // A busy process may also fail it; the upstream's own 429 never reaches the client.
          ensure(status !== 200 && status !== 429, `token counts are limited (${status})`)
        },
        50,
      ),
    ])
    loop.disable()
    say(`the longest event loop delay was ${Math.round(loop.max / 1e6)} ms`)
    sky.clear()
    const records = recordsOf(gateway)
    const replies = checkReplies(callers.sent, records)
    const success = checkSuccess(callers.sent, records, sky)
    const charged = await callers.checkCharges()
    return { sent: callers.sent.length, ...replies, ...success, charged, ...counts }
  } finally {
    await callers.close()
    await gateway.end()
  }
}

/** The faults of each stand-in by model; an empty fault means that it is well. */
function createSky(gateway: TestGateway) {
  const spells: Spell[][][] = NAMES.map(() => MODELS.map(() => []))

  function apply(i: number): void {
    const modes = MODELS.map((model, m) => ({
      model,
      path: '/v1/messages',
      fault: spells[i]?.[m]?.at(-1)?.fault ?? '',
      reply: `say ${JSON.stringify(textOf(i))}`,
    }))
    gateway.vendors[i]?.mode(...modes, { path: COUNT_PATH, fault: 'status=429 retry-after=60' })
  }

  function turn(i: number, models: readonly number[], fault: string, pauseMs: number): void {
    const atMs = now()
    for (const m of models) {
      const all = spells[i]?.[m] ?? []
      const last = all.at(-1)
      if (last !== undefined) last.toMs = atMs
      all.push({ fromMs: atMs, toMs: Number.POSITIVE_INFINITY, fault, pauseMs })
    }
    apply(i)
  }

  const every = MODELS.keys().toArray()
  const clear = () => {
    for (const i of NAMES.keys()) turn(i, every, '', 0)
  }
  clear()
  return {
    clear,
    async weather(ms: number, draw: () => number): Promise<void> {
      const untilMs = now() + ms
      while (now() < untilMs) {
        await sleep(WEATHER_MS)
        const [i, m] = [Math.floor(draw() * NAMES.length), Math.floor(draw() * MODELS.length)]
        const dice = draw()
        const [fault, pauseMs] = refusals[Math.floor(draw() * refusals.length)] as [string, number]
        const cut = cuts[Math.floor(draw() * cuts.length)] as string
        if (dice < 0.5) turn(i, every, '', 0)
        else if (dice < 0.505) turn(i, every, UNPAID, UNPAID_MS)
        else if (dice < 0.65) turn(i, [m], cut, 0)
        else turn(i, [m], fault, pauseMs)
      }
    },
    /** Whether a credential was well for the model all the time, and known to be. */
    isWell: (model: string, fromMs: number, toMs: number): boolean =>
      spells.some((byModel) => {
        const all = byModel[MODELS.indexOf(model)] ?? []
        return all.some((one) => {
          const isPaused = all.some((before) => {
            return before.toMs <= one.fromMs && before.toMs + before.pauseMs > fromMs
          })
          return one.fault === '' && one.fromMs <= fromMs && one.toMs >= toMs && !isPaused
        })
      }),
  }
}

/** A text that only this stand-in replies with. */
function textOf(i: number): string {
  return Array.from({ length: 24 }, (_, word) => `${NAMES[i]}-${word}`).join(' ')
}

/** The messages that the stand-ins received, by number, in order of arrival. */
function recordsOf({ vendors }: TestGateway): Map<number, Asked[]> {
  const all = vendors.flatMap((one, vendor) => one.requests.map((got) => ({ ...got, vendor })))
  const messages = all.filter(({ url }) => url === '/v1/messages')
  const byNumber = Map.groupBy(messages, ({ body }) =>
    Number(/"content":"(\d+) /.exec(`${body}`)?.[1]),
  )
  for (const records of byNumber.values()) records.sort((a, b) => a.arrivedAt - b.arrivedAt)
  return byNumber
}

/** Every reply comes from exactly one stand-in, and no other was asked after it. */
function checkReplies(sent: readonly Sent[], records: Map<number, Asked[]>) {
  let whole = 0
  let repeated = 0
  for (const { number, answer } of sent) {
    const asked = records.get(number) ?? []
    const begun = asked.filter((one) => one.status === 200)
    const log = asked.map((one) => `${NAMES[one.vendor]} ${one.status} ${one.outcome}`).join(', ')
    ensure(begun.length <= 1, `no reply is generated twice (${number}: ${log})`)
    const [first] = begun
    ensure(
      first === undefined || asked.every((one) => one.arrivedAt <= first.arrivedAt),
      `no upstream is asked after the first byte (${number}: ${log})`,
    )
    // Arrivals have whole milliseconds: two in the same one may have come in either order.
    const lost = asked.find((one) => one.status === null)
    ensure(
      lost === undefined || asked.every((one) => one.arrivedAt <= lost.arrivedAt),
      `no upstream is asked after one that may have accepted it (${number}: ${log})`,
    )
    repeated += Math.max(0, asked.length - 1)
    const text = first === undefined ? '' : textOf(first.vendor)
    const isOfOne = answer.isWhole ? answer.text === text : text.startsWith(answer.text)
    ensure(isOfOne, `a reply is the text of one stand-in (${number}: ${answer.text})`)
    if (answer.isWhole) whole += 1
  }
  return { whole, repeated }
}

/** A request may fail only if no credential was well for its model, or if it was cut. */
function checkSuccess(sent: readonly Sent[], records: Map<number, Asked[]>, sky: Sky) {
  const wasCut = ({ number }: Sent) =>
    (records.get(number) ?? []).some(({ outcome }) => outcome !== 'finished')
  const due = sent.filter((one) => !wasCut(one) && sky.isWell(one.model, one.fromMs, one.toMs))
  const failed = due.filter(({ answer }) => !answer.isWhole)
  const share = 1 - failed.length / Math.max(1, due.length)
  const [first] = failed
  ensure(
    share >= SUCCESS_MIN,
    `requests succeed while a credential is well: ${failed.length} of ${due.length} failed, ` +
      `the first with ${first?.answer.error} (${first?.number})`,
  )
  ensure(due.length > sent.length / 3, `a third had a well credential (${due.length})`)
  const took = due.map((one) => one.toMs - one.fromMs)
  const cut = sent.filter(wasCut).length
  const figures = { p50Ms: percentile(took, 0.5), p99Ms: percentile(took, 0.99) }
  const [p50Ms, p99Ms] = [Math.round(figures.p50Ms), Math.round(figures.p99Ms)]
  return { mustSucceed: due.length, failed: failed.length, cut, p50Ms, p99Ms }
}
