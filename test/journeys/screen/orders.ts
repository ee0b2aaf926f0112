// An order in every state there is, and a payment declined for every reason we tell.
import type { DeclineReason, OrderState } from '../../../src/cabinet/contract/contract.ts'
import type { OrderId } from '../../../src/platform/ids.ts'
import type { Person, ScreensStage } from './stage.ts'

/** One of the provider's reasons for each of ours; a failed order has the twelfth. */
const theirReasons = {
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

export type Declined = keyof typeof theirReasons
export const declinedReasons = Object.keys(theirReasons) as Declined[]

/** Canceled orders are the declined ones. */
type Kept = Exclude<OrderState, 'canceled'> | 'sbp'

export type Orders = {
  readonly shopper: Person
  readonly states: Readonly<Record<Kept, OrderId>>
  readonly declined: Readonly<Record<Declined, OrderId>>
}

export async function arrangeOrders(stage: ScreensStage): Promise<Orders> {
  const shopper = await stage.person('shopper')
  const unmade = await arrangeUnmade(stage, shopper)
  const declined = await arrangeDeclined(stage, shopper)
  const unusual = await arrangeUnusual(stage, shopper)
  const returned = await arrangeReturned(stage, shopper)
  const disputes = await arrangeDisputes(stage, shopper)
  const credited = await stage.bought(shopper)
  const pending = await stage.ordered(shopper, { pack: 'pack-35m', method: 'card' })
  const sbp = await stage.ordered(shopper, { pack: 'pack-35m', method: 'sbp' })
  const states = { ...unmade, ...unusual, ...returned, ...disputes, credited, pending, sbp }
  return { shopper, states, declined }
}

/** The provider's answer never came, and stays away; the provider said no. */
async function arrangeUnmade(stage: ScreensStage, own: Person) {
  const fault = { kind: 'error', when: 'before', method: 'POST', path: '/payments' }
  await stage.sim('faults', { ...fault, times: 1 })
  const created = await stage.ordered(own, { pack: 'pack-300m' })
  await stage.sim('faults', { ...fault, times: null, orderId: created })
  await stage.sim('settings', { methods: ['bank_card'] })
  const failed = await stage.ordered(own, { pack: 'pack-300m', method: 'sbp' })
  await stage.sim('settings', { methods: ['bank_card', 'sbp'] })
  return { created, failed }
}

async function arrangeDeclined(stage: ScreensStage, own: Person) {
  const found: [string, OrderId][] = []
  for (const [ours, reason] of Object.entries(theirReasons)) {
    const id = await stage.ordered(own)
    await stage.sim('decline', { orderId: id, reason })
    await stage.looked(own, id, 'canceled')
    found.push([ours, id])
  }
  // Safe: the list above has every reason.
  return Object.fromEntries(found) as Record<Declined, OrderId>
}

/** Too late, and money that is not what the order says. */
async function arrangeUnusual(stage: ScreensStage, own: Person) {
  const expired = await stage.ordered(own, { pack: 'pack-100m' })
  await stage.db.query(
    `update orders set payable_until = payable_until - interval '3 hours' where id = $1`,
    [expired],
  )
  await stage.payments.jobs.expire()
  await stage.untilState(expired, 'expired')
  const review = await stage.ordered(own)
  await stage.sim('alter', { orderId: review, value: '1299.00' })
  await stage.sim('pay', { orderId: review })
  await stage.looked(own, review, 'review')
  return { expired, review }
}

async function arrangeReturned(stage: ScreensStage, own: Person) {
  const refund_pending = await stage.bought(own)
  await stage.sim('hold-refunds', { orderId: refund_pending, isHeld: true })
  await own.ask(`POST /api/orders/${refund_pending}/refund`, { attempt: 'held' })
  const refunded = await stage.bought(own)
  await own.ask(`POST /api/orders/${refunded}/refund`, { attempt: 'whole' })
  const partially_refunded = await stage.bought(own)
  const part = { attempt: 'part', amountKopecks: '30000' }
  await own.ask(`POST /api/orders/${partially_refunded}/refund`, part)
  await stage.untilState(refunded, 'refunded')
  await stage.untilState(partially_refunded, 'partially_refunded')
  return { refund_pending, refunded, partially_refunded }
}

async function arrangeDisputes(stage: ScreensStage, own: Person) {
  const disputed = await stage.bought(own)
  const dispute_won = await stage.bought(own)
  const dispute_lost = await stage.bought(own)
  const act = (order: OrderId, what: 'open' | 'won' | 'lost') =>
    stage.payments.dispute({ order, act: what, by: 'a test', note: '' })
  for (const id of [disputed, dispute_won, dispute_lost]) await act(id, 'open')
  await act(dispute_won, 'won')
  await act(dispute_lost, 'lost')
  return { disputed, dispute_won, dispute_lost }
}
