// Fiscal receipts: one per paid payment and per refund that came with one. The fiscal numbers are
// invented, as they are in the provider's own test shops.
import type { Clock } from './clock.ts'
import { digits, receiptId } from './ids.ts'
import type { Payment, ReceiptObject, Refund, Registration } from './objects.ts'
import type { Settings } from './settings.ts'

export type Receipt = ReceiptObject & { sim: { sequence: number; createdMs: number } }

type Options = { clock: Clock; settings: Settings; max: number }

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

  function add(order: NonNullable<Payment['sim']['receipt']>, subject: Payment | Refund): void {
    sequence += 1
    const { tax_system_code } = order
    const isRefund = 'payment_id' in subject
    all.push({
      id: receiptId(),
      type: isRefund ? 'refund' : 'payment',
      ...(isRefund
        ? { payment_id: subject.payment_id, refund_id: subject.id }
        : { payment_id: subject.id }),
      status: settings.receiptStatus,
      ...fiscalOf(settings.receiptStatus),
      ...(tax_system_code === undefined ? {} : { tax_system_code }),
      items: order.items,
      settlements: [{ type: 'cashless', amount: subject.amount }],
      sim: { sequence, createdMs: clock.now() },
    })
    if (all.length > max) all.splice(0, Math.ceil(max / 10))
  }

  return {
    /** The registration to show beside the money; null when no receipt was ordered. */
    register(subject: Payment | Refund): Registration | null {
      if (subject.sim.receipt === null) return null
      add(subject.sim.receipt, subject)
      return settings.receiptStatus
    },

    /** Changes the fiscal status later. */
    decide(subject: Payment | Refund, status: Registration): boolean {
      const type = 'payment_id' in subject ? 'refund' : 'payment'
      const receipt = all.findLast(
        (one) => one.type === type && (one.refund_id ?? one.payment_id) === subject.id,
      )
      if (receipt === undefined) return false
      subject.receipt_registration = status
      Object.assign(receipt, { status }, fiscalOf(status))
      return true
    },

    one: (id: string) => all.find((receipt) => receipt.id === id),
    /** Oldest first. */
    all: (): readonly Receipt[] => all,
    clear(): void {
      all.length = 0
    },
  }
}

export type Receipts = ReturnType<typeof createReceipts>
