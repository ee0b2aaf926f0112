// Parses YooKassa's receipts. A receipt says what was sold only in its items, so their sums by mode
// of payment are what it is recognised by; a sum that is not exact is null, never rounded.
import { z } from 'zod'
import type { Kopecks } from '../../units/kopecks.ts'
import type { Fiscal, ReceiptSnapshot } from '../port.ts'
import { amount, id, timestamp } from './objects.ts'
import { strictKopecks } from './strict-money.ts'

const receipt = z.looseObject({
  id,
  type: z.enum(['payment', 'refund']),
  status: z.enum(['pending', 'succeeded', 'canceled']),
  fiscal_document_number: z.string().max(50).optional(),
  fiscal_storage_number: z.string().max(50).optional(),
  fiscal_attribute: z.string().max(50).optional(),
  registered_at: timestamp.optional(),
  items: z.array(
    z.looseObject({
      quantity: z.union([z.number(), z.string()]),
      amount,
      payment_mode: z.string().optional(),
    }),
  ),
  settlements: z.array(z.looseObject({ type: z.string() })).optional(),
})

/** Up to three decimals. */
const QUANTITY = /^(\d{1,5})(?:\.(\d{1,3}))?$/

/** Undefined when the value is not a receipt. */
export function receiptOf(value: unknown): ReceiptSnapshot | undefined {
  const read = receipt.safeParse(value).data
  if (read === undefined) return undefined
  const sums = read.items.map((item) => ({ mode: item.payment_mode, sum: sumOf(item) }))
  const settlements = read.settlements ?? []
  return {
    receiptId: read.id,
    type: read.type,
    status: read.status,
    amount: totalOf(sums.map(({ sum }) => sum)),
    fullPayment: totalOf(sums.filter(({ mode }) => mode === 'full_payment').map(({ sum }) => sum)),
    isOfPrepayment: settlements.some(({ type }) => type === 'prepayment'),
    fiscal: fiscalOf(read),
  }
}

/** Rounded half up per line, as cash registers do. */
function sumOf(item: z.output<typeof receipt>['items'][number]): bigint | null {
  const price = item.amount.currency === 'RUB' ? strictKopecks(item.amount.value) : null
  const found = QUANTITY.exec(String(item.quantity))
  if (price === null || found === null) return null
  return (price * BigInt(`${found[1]}${(found[2] ?? '').padEnd(3, '0')}`) + 500n) / 1_000n
}

function totalOf(sums: readonly (bigint | null)[]): Kopecks | null {
  let total = 0n
  for (const sum of sums) {
    if (sum === null) return null
    total += sum
  }
  return total as Kopecks
}

function fiscalOf(read: z.output<typeof receipt>): Fiscal | null {
  const {
    fiscal_document_number: document,
    fiscal_storage_number: storage,
    fiscal_attribute: sign,
    registered_at: registeredAt,
  } = read
  if (!document || !storage || !sign || registeredAt === undefined) return null
  return { document, storage, sign, registeredAt }
}
