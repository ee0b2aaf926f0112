// The SQL of receipts in a period, for the accountant's month. Only reads, in the caller's
// snapshot.
import type { Executor } from '../../platform/db/db.ts'
import type { Kopecks } from '../../units/kopecks.ts'
import type { ReceiptKind } from '../port.ts'

type ReceiptSum = {
  readonly kind: ReceiptKind
  /** `waiting`: due in the period and not registered. `separate`: a person made it. */
  readonly state: 'registered' | 'waiting' | 'separate'
  readonly receipts: bigint
  readonly amount: Kopecks
  /** Of returns: what had been completed. */
  readonly completed: Kopecks
}

/**
 * Receipts by what they are about: of a prepayment the time of its credit, of a completion the end
 * of its period, of a return the end of its refund.
 */
export async function receiptSums(
  db: Executor,
  p: { readonly from: Date; readonly to: Date },
): Promise<ReceiptSum[]> {
  const { rows } = await db.query(
    `select kind, case state when 'registered' then 'registered' when 'dismissed' then 'separate'
         else 'waiting' end as state,
       count(*) as receipts, sum(amount_kopecks)::int8 as amount,
       sum(completed_kopecks)::int8 as completed
     from receipts
     where case kind when 'completion' then period_until > $1 and period_until <= $2
       else created_at >= $1 and created_at < $2 end
     group by 1, 2 order by 1, 2`,
    [p.from, p.to],
  )
  return rows as ReceiptSum[]
}
