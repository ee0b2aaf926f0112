// One customer floods the gateway with requests that make every upstream answer 500, 429, 403 or
// break off, each another one. The other customers' conversations stay where they are and all
// succeed. When an upstream really fails, they leave it.
import { createTestGateway } from '../../stages/gateway.ts'
import { type Drill, ensure, percentile } from '../../support/drill.ts'
import { createCallers, MODELS, repeat } from './callers.ts'

const POISONS = [
  'status=500',
  'status=429 retry-after=60',
  'status=403',
  'reset-at=30',
  'status=529',
]
const GOOD = 4

export const drill: Drill = async ({ isFull, say }) => {
  const stepMs = isFull ? 15_000 : 2_000
  const gateway = await createTestGateway({
    upstreams: [
      { name: 'home', priority: 1 },
      { name: 'reserve', priority: 2 },
    ],
  })
  const callers = await createCallers(gateway, GOOD + 1)
  const [home, reserve] = gateway.vendors
  const isGood = ({ body }: { body: Buffer | null }) => String(body).includes('good ')
  const good = (i: number) =>
    callers.send(i, { model: MODELS[i % 3] as string, reply: 'say "good "' })
  try {
    let number = 0
    let poisoned = 0
    const took: number[] = []
    for (const fault of POISONS) {
      await repeat(GOOD, 300, good, 20)
      const before = callers.sent.length
      const evil = (loop: number) => {
        number += 1
        const model = MODELS[loop % 3] as string
        return callers.send(GOOD, { model, fault, reply: `say "evil ${number}"` })
      }
      await Promise.all([repeat(6, stepMs, evil, 2), repeat(GOOD, stepMs, good, 20)])
      const sent = callers.sent.slice(before)
      const served = sent.filter(({ answer }) => answer.text === 'good ')
      poisoned += sent.length - served.length
      took.push(...served.map((one) => one.toMs - one.fromMs))
      const states = gateway.upstreams.views().map(({ state, details }) => [state, details.out])
      say(`${fault}: ${sent.length - served.length} poisoned, ${served.length} served, ${states}`)
      const moved = reserve?.requests.filter(isGood).length ?? 0
      ensure(moved === 0, `no conversation moves (${fault}: ${moved} of ${served.length})`)
      for (const { answer } of sent) {
        ensure(answer.isWhole === (answer.text === 'good '), `others succeed (${answer.error})`)
      }
    }
    home?.mode({ fault: 'status=500' })
    await repeat(GOOD, stepMs, good, 20)
    const state = gateway.upstreams.views()[0]?.state
    ensure(state !== 'closed', 'an upstream that fails for all is left')
    const p99Ms = Math.round(percentile(took, 0.99))
    ensure(!isFull || p99Ms < 1_000, `others do not wait (${p99Ms} ms)`)
    const charged = await callers.checkCharges()
    return { sent: callers.sent.length, poisoned, good: took.length, charged, p99Ms }
  } finally {
    await callers.close()
    await gateway.end()
  }
}
