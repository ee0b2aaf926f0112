// An order in every state, and a payment declined for every reason that we show.
import type { DeclineReason, OrderState } from '../../../src/cabinet/contract/contract.ts'
import type { OrderId } from '../../../src/platform/ids.ts'
import type { Person, ScreensStage } from './stage.ts'

/** For each of our reasons one of the provider's; a failed order shows `provider_failed`. */
const providerReasons = {
  insufficient_funds: 'insufficient_funds',
  card_data_wrong: 'invalid_csc',
  card_expired: 'card_expired',
  bank_check_failed: '3d_secure_failed',
  bank_refused: 'call_issuer',
  bank_unreachable: 'issuer_unavailable',
  limit_exceeded: 'payment_method_limit_exceeded',
  suspected: 'fraud_suspected',
  time_ran_out: 'expired_on_confirmation',
  canceled_by_us: 'canceled_by_merchant',
  no_reason_given: 'general_decline',
} satisfies Record<Exclude<DeclineReason, 'provider_failed'>, string>

export type Declined = keyof typeof providerReasons
export const declinedReasons = Object.keys(providerReasons) as Declined[]

/** The keys of `states`; the canceled orders are in `declined`, by reason. */
type StateKey = Exclude<OrderState, 'canceled'> | 'sbp'

export type Orders = {
  readonly shopper: Person
  readonly states: Readonly<Record<StateKey, OrderId>>
  readonly declined: Readonly<Record<Declined, OrderId>>
}

export async function arrangeOrders(stage: ScreensStage): Promise<Orders> {
  const shopper = await stage.person('shopper')
  const unmade = await arrangeUnmade(stage, shopper)
  const declined = await arrangeDeclined(stage, shopper)
  const unusual = await arrangeUnusual(stage, shopper)
  const refunds = await arrangeRefunds(stage, shopper)
  const disputes = await arrangeDisputes(stage, shopper)
  const credited = await stage.buyAndPay(shopper)
  const pending = await stage.placeOrder(shopper, { pack: 'pack-35m', method: 'card' })
  const sbp = await stage.placeOrder(shopper, { pack: 'pack-35m', method: 'sbp' })
  const states = { ...unmade, ...unusual, ...refunds, ...disputes, credited, pending, sbp }
  return { shopper, states, declined }
}

/** An order whose creation always fails with a 500, and one that the provider refused. */
async function arrangeUnmade(stage: ScreensStage, own: Person) {
  const fault = { kind: 'error', when: 'before', method: 'POST', path: '/payments' }
  await stage.sim('faults', { ...fault, times: 1 })
  const created = await stage.placeOrder(own, { pack: 'pack-300m' })
  await stage.sim('faults', { ...fault, times: null, orderId: created })
  await stage.sim('settings', { methods: ['bank_card'] })
  const failed = await stage.placeOrder(own, { pack: 'pack-300m', method: 'sbp' })
  await stage.sim('settings', { methods: ['bank_card', 'sbp'] })
  return { created, failed }
}

async function arrangeDeclined(stage: ScreensStage, own: Person) {
  const found: [string, OrderId][] = []
  for (const [ours, reason] of Object.entries(providerReasons)) {
    const id = await stage.placeOrder(own)
    await stage.sim('decline', { orderId: id, reason })
    await stage.checkUntilState(own, id, 'canceled')
    found.push([ours, id])
  }
  // Safe: the list above has every reason.
  return Object.fromEntries(found) as Record<Declined, OrderId>
}

/** An order that expired, and one whose payment differs from it. */
async function arrangeUnusual(stage: ScreensStage, own: Person) {
  const expired = await stage.placeOrder(own, { pack: 'pack-100m' })
  await stage.db.query(
    `update orders set payable_until = payable_until - interval '3 hours' where id = $1`,
    [expired],
  )
  await stage.payments.jobs.expire()
  await stage.untilState(expired, 'expired')
  const review = await stage.placeOrder(own)
  await stage.sim('alter', { orderId: review, value: '1299.00' })
  await stage.sim('pay', { orderId: review })
  await stage.checkUntilState(own, review, 'review')
  return { expired, review }
}

async function arrangeRefunds(stage: ScreensStage, own: Person) {
  const refund_pending = await stage.buyAndPay(own)
  await stage.sim('hold-refunds', { orderId: refund_pending, isHeld: true })
  await own.ask(`POST /api/orders/${refund_pending}/refund`, { attempt: 'held' })
  const refunded = await stage.buyAndPay(own)
  await own.ask(`POST /api/orders/${refunded}/refund`, { attempt: 'whole' })
  const partially_refunded = await stage.buyAndPay(own)
  const part = { attempt: 'part', amountKopecks: '30000' }
  await own.ask(`POST /api/orders/${partially_refunded}/refund`, part)
  await stage.untilState(refunded, 'refunded')
  await stage.untilState(partially_refunded, 'partially_refunded')
  return { refund_pending, refunded, partially_refunded }
}

async function arrangeDisputes(stage: ScreensStage, own: Person) {
  const disputed = await stage.buyAndPay(own)
  const dispute_won = await stage.buyAndPay(own)
  const dispute_lost = await stage.buyAndPay(own)
  const act = (order: OrderId, what: 'open' | 'won' | 'lost') =>
    stage.payments.dispute({ order, act: what, by: 'a test', note: '' })
  for (const id of [disputed, dispute_won, dispute_lost]) await act(id, 'open')
  await act(dispute_won, 'won')
  await act(dispute_lost, 'lost')
  return { disputed, dispute_won, dispute_lost }
}
