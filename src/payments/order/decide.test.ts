// The state machine as a table: an order's state, the payment's status, the decision. How decisions
// are applied is tested in purchase/apply.test.ts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newOrderId } from '../../platform/ids.ts'
import { kopecks } from '../../units/kopecks.ts'
import type { PaymentStatus, Snapshot } from '../port.ts'
import { decide } from './decide.ts'
import type { OrderState } from './order.ts'

const id = newOrderId(0, 1_700_000_000_000)
const rules = { shopRef: '100500', acceptsTestPayments: false }

const order = {
  id,
  provider: 'yookassa',
  paymentId: 'payment-a' as string | null,
  price: kopecks(130_000),
  confirmation: { kind: 'redirect', value: 'https://bank.example' } as const,
}

const snapshot: Snapshot = {
  provider: 'yookassa',
  paymentId: 'payment-a',
  orderRef: id,
  shopRef: '100500',
  status: 'succeeded',
  amount: kopecks(130_000),
  amountText: '1300.00',
  currency: 'RUB',
  refunded: kopecks(0),
  createdAt: new Date(1_700_000_000_000),
  capturedAt: new Date(1_700_000_060_000),
  cancelReason: null,
  isTestMoney: false,
  receipt: null,
  confirmation: null,
  savedMethod: null,
  payer: { card: null, bank: null },
}

const creditedStates: OrderState[] = [
  'credited',
  'refund_pending',
  'partially_refunded',
  'refunded',
  'disputed',
  'dispute_won',
  'dispute_lost',
]

// from | snapshot | act; a star is any state of a credited order
const plain = `
  created            | pending    | open
  created            | authorized | open
  created            | succeeded  | credit
  created            | canceled   | cancel
  pending            | pending    | nothing
  pending            | authorized | nothing
  pending            | succeeded  | credit
  pending            | canceled   | cancel
  expired            | pending    | nothing
  expired            | succeeded  | credit
  expired            | canceled   | cancel
  canceled           | pending    | nothing
  canceled           | succeeded  | credit
  canceled           | canceled   | nothing
  failed             | pending    | open
  failed             | succeeded  | credit
  failed             | canceled   | cancel
  review             | pending    | nothing
  review             | succeeded  | review paid_in_review
  review             | canceled   | nothing
  *                  | pending    | nothing
  *                  | authorized | nothing
  *                  | succeeded  | nothing
  *                  | canceled   | nothing
`

for (const [from = '', status = '', act = ''] of rowsOf(plain)) {
  test(`${from} order, ${status} payment: ${act}`, () => {
    for (const state of from === '*' ? creditedStates : [from as OrderState]) {
      const creditedAt = from === '*' ? new Date(1_700_000_090_000) : null
      const paymentId = from === 'created' || from === 'failed' ? null : 'payment-a'
      const found = decide(
        { ...order, state, creditedAt, paymentId },
        { ...snapshot, status: status as PaymentStatus },
        rules,
      )
      assert.equal(textOf(found), act, state)
    }
  })
}

// what differs | from | snapshot | act
const different = `
  provider         | pending  | succeeded | review provider
  payment_id       | pending  | succeeded | review payment_id
  order_reference  | pending  | succeeded | review order_reference
  no_reference     | pending  | succeeded | review order_reference
  shop             | pending  | succeeded | review shop
  amount           | pending  | succeeded | review amount
  amount_more      | pending  | succeeded | review amount
  amount_text      | pending  | succeeded | review amount_text
  currency         | pending  | succeeded | review currency
  test_flag        | pending  | succeeded | review test_flag
  amount           | created  | succeeded | review amount
  amount           | expired  | succeeded | review amount
  amount           | canceled | succeeded | review amount
  amount           | failed   | succeeded | review amount
  amount           | review   | succeeded | review amount
  test_flag        | created  | pending   | review test_flag
  amount           | pending  | pending   | review amount
  payment_id       | pending  | pending   | nothing
  payment_id       | pending  | canceled  | nothing
  provider         | pending  | canceled  | nothing
  amount           | pending  | canceled  | cancel
  amount           | credited | succeeded | review amount
  payment_id       | credited | succeeded | review payment_id
  amount           | credited | pending   | nothing
  amount           | credited | canceled  | nothing
`

const changes: Record<string, Partial<Snapshot>> = {
  provider: { provider: 'another' },
  payment_id: { paymentId: 'payment-b' },
  order_reference: { orderRef: newOrderId(0, 1_700_000_000_001) },
  no_reference: { orderRef: null },
  shop: { shopRef: '100501' },
  amount: { amount: kopecks(129_999), amountText: '1299.99' },
  amount_more: { amount: kopecks(130_001), amountText: '1300.01' },
  amount_text: { amount: null, amountText: '1300.0' },
  currency: { currency: 'USD' },
  test_flag: { isTestMoney: true },
}

for (const [what = '', from = '', status = '', act = ''] of rowsOf(different)) {
  test(`${from} order, ${status} payment whose ${what} differs: ${act}`, () => {
    const state = from as OrderState
    const creditedAt = state === 'credited' ? new Date(1_700_000_090_000) : null
    const changed = { ...snapshot, status: status as PaymentStatus, ...changes[what] }
    assert.equal(textOf(decide({ ...order, state, creditedAt }, changed, rules)), act)
  })
}

test('never credits a payment that differs from its order, in any state', () => {
  const states: OrderState[] = ['created', 'pending', 'failed', 'canceled', 'expired', 'review']
  for (const state of states) {
    for (const [name, change] of Object.entries(changes)) {
      for (const status of ['pending', 'authorized', 'succeeded', 'canceled'] as const) {
        const found = decide(
          { ...order, state, creditedAt: null },
          { ...snapshot, ...change, status },
          rules,
        )
        assert.notEqual(found.act, 'credit', `${state} ${name} ${status}`)
      }
    }
  }
})

test('a deployment that accepts test payments sends a real one to review', () => {
  const found = decide({ ...order, state: 'pending', creditedAt: null }, snapshot, {
    ...rules,
    acceptsTestPayments: true,
  })
  assert.equal(textOf(found), 'review test_flag')
})

function rowsOf(table: string): string[][] {
  return table
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
}

function textOf(decision: ReturnType<typeof decide>): string {
  return decision.act === 'review' ? `review ${decision.difference.reason}` : decision.act
}
