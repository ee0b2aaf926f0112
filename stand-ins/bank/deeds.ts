// The operation behind each API call, after credentials and request were checked. Every operation
// is synchronous; an answer waits only for an early notice.
import { BankError, invalid } from './errors.ts'
import { list } from './listing.ts'
import type { Payment } from './objects.ts'
import type { Parts } from './parts.ts'
import { readCapture, readPayment, readRefund } from './validate.ts'
import { readOwnReceipt } from './validate-receipt.ts'

// How far lists and refunds go back: three years.
const memoryMs = 3 * 365 * 24 * 3_600_000

export type Asked = { key: string; path: string; body: unknown }

/** An answer, and the payment whose early notices go before it. */
export type Done = { answer: object; payment: Payment | null }

/** The card of a payer who pays before the provider has answered the shop. */
export const quickCard = {
  type: 'bank_card',
  card: {
    first6: '555555',
    last4: '4444',
    expiry_month: '12',
    expiry_year: '2030',
    card_type: 'MasterCard',
  },
  threeDSecure: false,
} as const

export function createDeeds({ store, idempotence, webhooks }: Parts) {
  const { settings, refunds, receipts, shown } = store

  function found(id: string): Payment {
    const payment = store.payment(id)
    if (payment !== undefined) return payment
    const description = "Incorrect payment_id. Payment doesn't exist or access denied"
    throw new BankError(404, description, { parameter: 'payment_id' })
  }

  function once(asked: Asked, deed: () => { answer: object; again: () => object }): object {
    return idempotence.once(asked, deed)
  }

  return {
    postPayment(asked: Asked): Done {
      let made: Payment | null = null
      const answer = once(asked, () => {
        const order = readPayment(asked.body, settings)
        const { keptMethodId } = order
        if (keptMethodId !== undefined && store.keptMethods.one(keptMethodId) === undefined) {
          throw invalid('payment_method_id', 'Payment method is not found')
        }
        const payment = store.create(order)
        made = payment
        const asBorn = shown(payment)
        if (webhooks.born(payment) && payment.status === 'pending') {
          store.succeed(payment.id, store.methodsFor(payment.id)[0] === 'sbp' ? sbp : quickCard)
        }
        return { answer: asBorn, again: () => shown(payment) }
      })
      return { answer, payment: made }
    },

    postCapture(id: string, asked: Asked): Done {
      const payment = found(id)
      const answer = once(asked, () => {
        const kopecks = readCapture(asked.body)
        if (kopecks !== undefined && (kopecks === 0n || kopecks > payment.sim.amountKopecks)) {
          throw invalid('amount', 'The amount is more than is held')
        }
        if (!store.capture(id, kopecks)) throw invalid('payment_id', 'Payment is not held')
        return { answer: shown(payment), again: () => shown(payment) }
      })
      return { answer, payment }
    },

    postCancel(id: string, asked: Asked): Done {
      const payment = found(id)
      const answer = once(asked, () => {
        // The shop cannot withdraw a pending payment: its payer may be paying at this moment.
        if (payment.status !== 'waiting_for_capture') {
          throw invalid('payment_id', `Payment is ${payment.status}, not waiting_for_capture`)
        }
        store.cancel(id, { party: 'merchant', reason: 'canceled_by_merchant' })
        return { answer: shown(payment), again: () => shown(payment) }
      })
      return { answer, payment }
    },

    postRefund(asked: Asked): Done {
      let payment: Payment | null = null
      const answer = once(asked, () => {
        const { paymentId, ...order } = readRefund(asked.body, settings)
        const source = store.payment(paymentId)
        if (source === undefined) throw invalid('payment_id', 'Incorrect payment_id')
        payment = source
        const ageMs = store.now() - source.sim.createdMs
        if (source.status !== 'succeeded' || ageMs > memoryMs) {
          throw invalid('payment_id', 'The payment cannot be refunded')
        }
        if (order.kopecks > refunds.remainderOf(source)) {
          throw invalid('amount', 'The amount is more than is left of the payment')
        }
        const refund = refunds.create({ ...order, payment: source })
        return { answer: shown(refund), again: () => shown(refund) }
      })
      return { answer, payment }
    },

    getPayment: (id: string): object => shown(found(id)),

    getPayments: (query: URLSearchParams): object =>
      list({
        query,
        items: store.payments(),
        filters: {
          status: ({ status }, value) => status === value,
          payment_method: ({ payment_method }, value) => payment_method?.type === value,
        },
        isKept: ({ sim }) => store.now() - sim.createdMs <= memoryMs,
        moments: ({ sim }) => ({ created_at: sim.createdMs, captured_at: sim.capturedMs }),
        shown,
      }),

    getRefund(id: string): object {
      const refund = refunds.refund(id)
      if (refund !== undefined) return shown(refund)
      throw new BankError(404, 'Incorrect refund_id', { parameter: 'refund_id' })
    },

    getRefunds: (query: URLSearchParams): object =>
      list({
        query,
        items: refunds.all(),
        filters: {
          status: ({ status }, value) => status === value,
          payment_id: ({ payment_id }, value) => payment_id === value,
        },
        isKept: ({ sim }) => store.now() - sim.createdMs <= memoryMs,
        moments: ({ sim }) => ({ created_at: sim.createdMs }),
        shown,
      }),

    postReceipt(asked: Asked): Done {
      const answer = once(asked, () => {
        const { order, kopecks } = readOwnReceipt(asked.body, settings)
        const refund = refunds.refund(order.refund_id ?? '')
        const payment = store.payment(refund?.payment_id ?? order.payment_id ?? '')
        const isKnown = order.type === 'payment' || refund?.status === 'succeeded'
        if (payment?.status !== 'succeeded' || !isKnown) {
          throw invalid(`${order.type}_id`, 'There is no such payment or refund')
        }
        if (kopecks > (refund ?? payment).sim.amountKopecks) {
          throw invalid('settlements', 'The amount is more than was paid')
        }
        const receipt = receipts.create(order, payment.id)
        return { answer: receipts.shown(receipt), again: () => receipts.shown(receipt) }
      })
      return { answer, payment: null }
    },

    getReceipt(id: string): object {
      const receipt = receipts.one(id)
      if (receipt === undefined) {
        throw new BankError(404, 'Incorrect receipt_id', { parameter: 'receipt_id' })
      }
      return receipts.shown(receipt)
    },

    getReceipts: (query: URLSearchParams): object =>
      list({
        query,
        items: receipts.all(),
        filters: {
          status: ({ status }, value) => status === value,
          payment_id: ({ payment_id }, value) => payment_id === value,
          refund_id: ({ refund_id }, value) => refund_id === value,
        },
        isKept: () => true,
        moments: ({ sim }) => ({ created_at: sim.createdMs }),
        shown: receipts.shown,
      }),

    getMe: (): object => ({
      account_id: settings.shopId,
      status: 'enabled',
      test: settings.isTest,
      fiscalization: { enabled: settings.isReceiptOwn, provider: 'avanpost' },
      fiscalization_enabled: settings.isReceiptOwn,
      payment_methods: settings.methods,
      itn: '7700000000',
    }),
  }
}

const sbp = { type: 'sbp' } as const

export type Deeds = ReturnType<typeof createDeeds>
