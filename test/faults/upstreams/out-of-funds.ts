// The accounts of credentials run out of funds, one after the other: no request fails while one has
// funds, each is left for every model after one answer, with one error in the log, and is used
// again within a minute after it was paid. While none has funds, nothing is charged.
import { systemClock } from '../../../src/platform/clock.ts'
import { createTestGateway } from '../../stages/gateway.ts'
import { type Drill, ensure } from '../../support/drill.ts'
import { createCallers, MODELS, now, repeat, UNPAID } from './callers.ts'

const NAMES = ['amber', 'basin', 'cedar', 'delta']
const ACCOUNTS = 6

export const drill: Drill = async ({ isFull }) => {
  const stepMs = isFull ? 10_000 : 1_500
  const clock = { aheadMs: 0 }
  const logLines: string[] = []
  const gateway = await createTestGateway({
    upstreams: NAMES.map((name) => ({ name })),
    logLines,
    // The short form does not wait a minute for the next attempt at a refused credential.
    upstreamClock: {
      nowMs: systemClock.nowMs,
      spanMs: () => systemClock.spanMs() + clock.aheadMs,
    },
  })
  const callers = await createCallers(gateway, ACCOUNTS)
  const work = (i: number) =>
    callers.send(i, { model: MODELS[i % 3] as string, reply: `say "${Math.random()}"` })
  const load = (ms: number) => repeat(ACCOUNTS, ms, work, 5)
  const alarms = () => logLines.filter((line) => line.includes('credential is refused')).length
  try {
    await load(stepMs)
    let wasted = 0
    for (const [i, vendor] of gateway.vendors.entries()) {
      if (i === NAMES.length - 1) break
      vendor.mode({ fault: UNPAID })
      const before = vendor.requests.length
      await load(stepMs)
      wasted += vendor.requests.length - before
      ensure(alarms() === i + 1, `one alarm for each credential (${alarms()})`)
    }
    for (const { answer } of callers.sent) {
      ensure(answer.isWhole, `requests succeed while one credential has funds (${answer.error})`)
    }
    // Requests that were under way together, and one a minute in the full form.
    ensure(wasted <= 3 * (ACCOUNTS + 1), `a credential without funds is left (${wasted})`)

    const served = callers.sent.length
    gateway.vendors.at(-1)?.mode({ fault: UNPAID })
    await load(1_000)
    const failed = callers.sent.slice(served)
    const refused = failed.filter(({ answer }) => !answer.isWhole)
    for (const { answer } of refused) ensure(answer.error === '502 api_error', `${answer.error}`)
    ensure(refused.length > 0, 'without funds nothing is served')

    for (const vendor of gateway.vendors) vendor.mode()
    const paidMs = now()
    const first = await work(0)
    ensure(first.answer.isWhole, 'a payment helps the next request')
    const usedAll = () => gateway.upstreams.views().every(({ details }) => details.out === null)
    while (!usedAll() && now() - paidMs < 90_000) {
      if (!isFull) clock.aheadMs += 60_000
      await load(500)
    }
    ensure(usedAll(), 'every credential is used again')
    const backSeconds = Math.round((now() - paidMs) / 1_000)
    ensure(!isFull || backSeconds <= 75, `within about a minute (${backSeconds} s)`)
    const charged = await callers.checkCharges()
    return { sent: callers.sent.length, charged, refused: refused.length, wasted, backSeconds }
  } finally {
    await callers.close()
    await gateway.end()
  }
}
