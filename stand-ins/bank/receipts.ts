// Fiscal receipts: those that come with payments and refunds, and those that the shop makes apart
// from them. The tax service registers one after a delay, or refuses it. The fiscal numbers are
// invented, as they are in the provider's own test shops.
import type { Clock } from './clock.ts'
import { invalid } from './errors.ts'
import { digits, receiptId } from './ids.ts'
import type {
  OwnReceipt,
  Payment,
  ReceiptObject,
  ReceiptOrder,
  Refund,
  Registration,
  Settlement,
} from './objects.ts'
import type { Settings } from './settings.ts'

export type Receipt = ReceiptObject & {
  sim: {
    sequence: number
    createdMs: number
    /** The payment or refund that shows its registration; null: it was made apart. */
    subject: Payment | Refund | null
  }
}

type Options = { clock: Clock; settings: Settings; max: number }

/** As the provider says. */
const PER_PAYMENT_MAX = 30

export function createReceipts({ clock, settings, max }: Options) {
  const all: Receipt[] = []
  let sequence = 0

  function fiscalOf(status: Registration) {
    if (status !== 'succeeded') return {}
    return {
      fiscal_document_number: digits(5),
      fiscal_storage_number: digits(16),
      fiscal_attribute: digits(10),
      registered_at: new Date(clock.now()).toISOString(),
      fiscal_provider_id: receiptId().slice(3),
    }
  }

  function decide(receipt: Receipt, status: Registration): void {
    Object.assign(receipt, { status }, fiscalOf(status))
    if (receipt.sim.subject !== null) receipt.sim.subject.receipt_registration = status
  }

  function add(
    order: ReceiptOrder,
    of: Pick<ReceiptObject, 'type' | 'payment_id' | 'refund_id'>,
    settlements: Settlement[],
    subject: Payment | Refund | null,
  ): Receipt {
    sequence += 1
    const { receiptCancelEvery: every, receiptDelayMs: delayMs } = settings
    const end = every > 0 && sequence % every === 0 ? 'canceled' : settings.receiptStatus
    const { tax_system_code } = order
    const receipt: Receipt = {
      id: receiptId(),
      ...of,
      status: 'pending',
      ...(tax_system_code === undefined ? {} : { tax_system_code }),
      items: order.items,
      settlements,
      sim: { sequence, createdMs: clock.now(), subject },
    }
    all.push(receipt)
    if (delayMs === 0) decide(receipt, end)
    else clock.at(clock.now() + delayMs, () => receipt.status === 'pending' && decide(receipt, end))
    if (all.length > max) all.splice(0, Math.ceil(max / 10))
    return receipt
  }

  return {
    /** The registration to show beside the money; null when no receipt was ordered. */
    register(subject: Payment | Refund): Registration | null {
      const { receipt } = subject.sim
      if (receipt === null) return null
      const isRefund = 'payment_id' in subject
      const of = isRefund
        ? ({ type: 'refund', payment_id: subject.payment_id, refund_id: subject.id } as const)
        : ({ type: 'payment', payment_id: subject.id } as const)
      const cashless = [{ type: 'cashless', amount: subject.amount }]
      return add(receipt, of, cashless, subject).status
    },

    /** The shop makes one; the caller has checked it and found its payment. */
    create(order: OwnReceipt, paymentId: string): Receipt {
      const made = all.filter(
        (one) => one.payment_id === paymentId && one.status !== 'canceled',
      ).length
      if (made >= PER_PAYMENT_MAX) {
        throw invalid('payment_id', `A payment has at most ${PER_PAYMENT_MAX} receipts`)
      }
      const { type, refund_id, settlements } = order
      const of = { type, payment_id: paymentId, ...(refund_id === undefined ? {} : { refund_id }) }
      return add(order, of, settlements, null)
    },

    /** Changes the fiscal status later: of the newest receipt of a payment or refund. */
    decide(subject: Payment | Refund, status: Registration): boolean {
      const receipt = all.findLast(({ sim }) => sim.subject === subject)
      if (receipt !== undefined) decide(receipt, status)
      return receipt !== undefined
    },

    decideOne(id: string, status: Registration): Receipt | null {
      const receipt = all.find((one) => one.id === id)
      if (receipt !== undefined) decide(receipt, status)
      return receipt ?? null
    },

    shown: ({ sim, ...object }: Receipt): ReceiptObject => object,
    one: (id: string) => all.find((receipt) => receipt.id === id),
    /** Oldest first. */
    all: (): readonly Receipt[] => all,
    clear(): void {
      all.length = 0
    },
  }
}

export type Receipts = ReturnType<typeof createReceipts>
