// Every upstream limits one model for a while: the other models are served as if nothing had
// happened, customers of the limited one are told when to come back, the upstreams are asked once a
// second, and the model is served again when the pause is over. Then every upstream limits token
// counts, of which a customer without credits sends a flood: messages do not notice.
import { createTestGateway, type TestGateway } from '../../stages/gateway.ts'
import { type Drill, ensure, percentile } from '../../support/drill.ts'
import { COUNT_PATH, createCallers, MODELS, now, repeat, type Sent } from './callers.ts'

const NAMES = ['amber', 'basin', 'cedar', 'delta']
const LIMITED = 'model-large'

export const drill: Drill = async ({ isFull }) => {
  const gateway = await createTestGateway({ upstreams: NAMES.map((name) => ({ name })) })
  const callers = await createCallers(gateway, 6)
  try {
    const limited = await limitModel(gateway, callers, isFull ? 30 : 4)
    const counts = await limitCounts(gateway, callers, isFull ? 20_000 : 4_000)
    const { p99Ms, besideP99Ms } = { ...limited, ...counts }
    ensure(
      !isFull || Math.max(p99Ms, besideP99Ms) < 1_000,
      `nobody waits (${p99Ms} ${besideP99Ms})`,
    )
    const charged = await callers.checkCharges()
    return { ...limited, ...counts, charged }
  } finally {
    await callers.close()
    await gateway.end()
  }
}

async function limitModel(gateway: TestGateway, callers: Callers, pauseSeconds: number) {
  const fault = `status=429 retry-after=${pauseSeconds}`
  for (const vendor of gateway.vendors) vendor.mode({ model: LIMITED, fault })
  const beganMs = now()
  for (let i = 0; i < 4; i++) await callers.send(i, { model: LIMITED })
  const pauseMs = pauseSeconds * 1_000 - (now() - beganMs)
  await repeat(6, pauseMs - 500, (i) => callers.send(i, { model: MODELS[i % 3] as string }), 10)
  const limited = callers.sent.filter(({ model }) => model === LIMITED)
  const others = callers.sent.filter(({ model }) => model !== LIMITED)
  for (const { answer } of others) ensure(answer.isWhole, 'other models are served')
  for (const { answer, toMs } of limited) {
    const leftSeconds = (beganMs - toMs) / 1_000 + pauseSeconds
    ensure(answer.error === '529 overloaded_error', `it is 529, not ${answer.error}`)
    const { retryAfter = 0 } = answer
    // The first answers began the pauses; a probe prolongs the pause of its upstream.
    const isTrue = retryAfter >= leftSeconds - 1 && retryAfter <= pauseSeconds
    ensure(isTrue, `retry-after is true (${retryAfter} s, ${leftSeconds} s are left)`)
  }
  const asked = gateway.vendors
    .flatMap((vendor) => vendor.requests)
    .filter(({ body }) => String(body).includes(`"model":"${LIMITED}"`)).length
  ensure(asked <= NAMES.length * 4 + pauseSeconds + 1, `once a second, not ${asked} times`)
  for (const vendor of gateway.vendors) vendor.mode()
  const againMs = await served(callers, pauseSeconds)
  return { limited: limited.length, others: others.length, asked, againMs, p99Ms: p99Of(others) }
}

async function limitCounts(gateway: TestGateway, callers: Callers, ms: number) {
  const before = callers.sent.length
  for (const vendor of gateway.vendors) {
    vendor.mode({ path: COUNT_PATH, fault: 'status=429 retry-after=60' })
  }
  const statuses: number[] = []
  const count = async () => statuses.push(await callers.count(0, LIMITED))
  await Promise.all([
    repeat(8, ms, count, 5),
    repeat(6, ms, (i) => callers.send(i, { model: MODELS[i % 3] as string }), 10),
  ])
  const beside = callers.sent.slice(before)
  for (const { answer } of beside) ensure(answer.isWhole, 'messages beside token counts are served')
  ensure(
    statuses.every((status) => status === 529),
    `token counts are limited (${new Set(statuses)})`,
  )
  return { tokenCounts: statuses.length, beside: beside.length, besideP99Ms: p99Of(beside) }
}

const p99Of = (sent: readonly Sent[]) =>
  Math.round(
    percentile(
      sent.map((one) => one.toMs - one.fromMs),
      0.99,
    ),
  )

type Callers = Awaited<ReturnType<typeof createCallers>>

/** Until the limited model is served again. */
async function served(callers: Callers, pauseSeconds: number): Promise<number> {
  const fromMs = now()
  while (now() - fromMs < (pauseSeconds + 5) * 1_000) {
    const { answer } = await callers.send(5, { model: LIMITED })
    if (answer.isWhole) return Math.round(now() - fromMs)
  }
  ensure(false, 'the model is served again when the pause is over')
  return 0
}
