// Compares receipts by plain SQL and the bank's own record, without the code that makes them.
import type { createTestPayments } from '../../stages/payments.ts'

export type Stage = Omit<Awaited<ReturnType<typeof createTestPayments>>, 'intake'>

export type Kind = 'prepaid' | 'completed' | 'returned'

/** A receipt of the bank that was not canceled; kopecks. */
export type BankReceipt = {
  readonly id: string
  readonly payment: string
  readonly refund: string | null
  readonly kind: Kind
  readonly amount: bigint
  readonly fullPayment: bigint
  readonly document: string
}

type Ours = {
  readonly id: string
  readonly error: string | null
  readonly kind: Kind
  readonly order: string
  readonly payment: string
  readonly refund: string | null
  readonly state: string
  readonly amount: bigint
  readonly completed: bigint
  readonly receiptId: string | null
  readonly document: string | null
}

type Order = {
  readonly id: string
  readonly payment: string
  readonly price: bigint
  readonly credits: bigint
  /** Succeeded refunds that returned what was not completed; all succeeded refunds. */
  readonly unused: bigint
  readonly refunds: bigint
  readonly isSettled: boolean
  /** Not spent and not taken back, now. */
  readonly left: bigint
  readonly taken: bigint
  /** Credits that refunds took, as the orders say; but for debts they are what the ledger took. */
  readonly refunded: bigint
  /** Kopecks of succeeded refunds, and of them what returned completed credits. */
  readonly returned: bigint
  readonly returnedCompleted: bigint
}

/** What of each order must be completed at the end of the month, by its lot at that moment. */
export type Due = ReadonlyMap<string, bigint>

type Facts = {
  readonly orders: readonly Order[]
  readonly ours: readonly Ours[]
  readonly bank: readonly BankReceipt[]
}

export async function readFacts(stage: Stage): Promise<Facts> {
  const orders = await stage.db.query(
    `select o.id, o.provider_payment_id as payment, o.price_kopecks as price, o.credits,
       coalesce((select sum(amount_kopecks - completed_kopecks) from refunds
         where order_id = o.id and state = 'succeeded'), 0)::int8 as unused,
       (select count(*) from refunds where order_id = o.id and state = 'succeeded') as refunds,
       (select coalesce(sum(credits), 0)::int8 from refunds
         where order_id = o.id and state in ('succeeded', 'pending', 'created')) as refunded,
       (select coalesce(sum(amount_kopecks), 0)::int8 from refunds
         where order_id = o.id and state = 'succeeded') as returned,
       (select coalesce(sum(completed_kopecks), 0)::int8 from refunds
         where order_id = o.id and state = 'succeeded') as "returnedCompleted",
       p.check_at is null as "isSettled", l.unspent as left, l.taken_back as taken
     from orders o
     join receipts p on p.order_id = o.id and p.kind = 'prepayment'
     cross join lateral (
       select * from ledger_lots(o.book_id) where seq = o.lot) l
     where o.credited_at is not null order by o.id`,
  )
  const ours = await stage.db.query(
    `select r.id, case kind when 'prepayment' then 'prepaid' when 'completion' then 'completed'
         else 'returned' end as kind,
       r.error, r.order_id as order, o.provider_payment_id as payment,
       f.provider_refund_id as refund, r.state, r.amount_kopecks as amount,
       r.completed_kopecks as completed,
       r.provider_receipt_id as "receiptId", r.fiscal_document as document
     from receipts r join orders o on o.id = r.order_id left join refunds f on f.id = r.refund_id`,
  )
  const { receipts } = await stage.sim('receipts?last=100000', {}, 'GET')
  return {
    orders: orders.rows as Order[],
    ours: ours.rows as Ours[],
    bank: (receipts as Shown[]).filter(({ status }) => status === 'succeeded').map(bankOf),
  }
}

type Shown = {
  readonly id: string
  readonly type: 'payment' | 'refund'
  readonly status: string
  readonly payment_id: string
  readonly refund_id?: string
  readonly fiscal_document_number?: string
  readonly settlements: readonly { readonly type: string }[]
  readonly items: readonly {
    readonly payment_mode: string
    readonly amount: { readonly value: string }
  }[]
}

function bankOf(shown: Shown): BankReceipt {
  const sum = (items: Shown['items']) =>
    items.reduce((total, { amount }) => total + BigInt(amount.value.replace('.', '')), 0n)
  const isCompletion = shown.settlements[0]?.type === 'prepayment'
  return {
    id: shown.id,
    payment: shown.payment_id,
    refund: shown.refund_id ?? null,
    kind: shown.type === 'refund' ? 'returned' : isCompletion ? 'completed' : 'prepaid',
    amount: sum(shown.items),
    fullPayment: sum(shown.items.filter((one) => one.payment_mode === 'full_payment')),
    document: shown.fiscal_document_number ?? '',
  }
}

/** What does not tie, one line each. */
export function differences(
  { orders, ours, bank }: Facts,
  rhythm: 'monthly' | 'at_end',
  due: Due,
): string[] {
  const found: string[] = []
  const byId = new Map(bank.map((one) => [one.id, one]))
  const known = new Set(ours.map(({ receiptId }) => receiptId))
  for (const one of ours) {
    if (isForAccountant(one)) {
      found.push(...ofAccountant(one, bank))
      continue
    }
    const there = byId.get(one.receiptId ?? '')
    if (one.state !== 'registered') found.push(`${one.id} is ${one.state}`)
    else if (there === undefined) found.push(`${one.id} is not at the bank`)
    else if (there.amount !== one.amount) found.push(`${one.id} has another amount at the bank`)
    else if (there.document !== one.document) found.push(`${one.id} has another number`)
    else if (there.kind !== one.kind || there.payment !== one.payment) {
      found.push(`${one.id} is another receipt at the bank`)
    } else if (one.kind === 'returned' && there.fullPayment !== one.completed) {
      found.push(`${one.id} returns another part as completed`)
    }
  }
  const refunds = new Set(ours.flatMap(({ refund }) => refund ?? []))
  const foreign = bank.filter(({ id, kind, refund }) =>
    kind === 'returned' ? !refunds.has(refund ?? '') : !known.has(id),
  )
  found.push(...foreign.map(({ id, kind }) => `the bank has ${id} (${kind}), and we do not`))
  for (const order of orders) found.push(...ofOrder(order, { ours, bank }, rhythm, due))
  return found
}

/** A refund in the portal got the portal's receipt, or none, and the accountant a line about it. */
const isForAccountant = ({ state, kind }: Ours) => state === 'failed' && kind === 'returned'

const CORRECTED = / returns (\d+) kopecks as completed instead of (\d+)$/

/** What the line says is what the bank has, to the kopeck. */
function ofAccountant(one: Ours, bank: readonly BankReceipt[]): string[] {
  const there = bank.filter(({ refund }) => refund === one.refund)
  const said = CORRECTED.exec(one.error ?? '')
  const texts = [one.error ?? '', `${there.length} at the bank`]
  if (said === null) {
    const isAbsent = there.length === 0 && /has no such receipt/.test(one.error ?? '')
    return isAbsent ? [] : [`${one.id} says without a reason: ${texts.join(', ')}`]
  }
  const isSame =
    there.length === 1 &&
    there[0]?.amount === one.amount &&
    there[0].fullPayment === BigInt(said[1] ?? '') &&
    one.completed === BigInt(said[2] ?? '')
  return isSame ? [] : [`${one.id} says another difference: ${texts.join(', ')}`]
}

function ofOrder(
  order: Order,
  facts: Pick<Facts, 'ours' | 'bank'>,
  rhythm: 'monthly' | 'at_end',
  due: Due,
): string[] {
  const own = facts.bank.filter(({ payment }) => payment === order.payment)
  const sum = (kind: Kind, of: 'amount' | 'fullPayment' = 'amount') =>
    own.filter((one) => one.kind === kind).reduce((total, one) => total + one[of], 0n)
  const completed = sum('completed')
  const found: string[] = []
  const say = (text: string) => found.push(`${order.id}: ${text}`)
  if (sum('prepaid') !== order.price) say(`prepaid ${sum('prepaid')} of ${order.price}`)
  const returns = facts.ours.filter((one) => one.order === order.id && one.kind === 'returned')
  if (BigInt(returns.length) !== order.refunds) say(`${returns.length} returns`)
  const atBank = own.filter(({ kind }) => kind === 'returned')
  if (new Set(atBank.map(({ refund }) => refund)).size !== atBank.length) say('returned twice')
  const absent = returns.filter(({ refund }) => !atBank.some((one) => one.refund === refund))
  const returned = total(absent) + sum('returned')
  if (returned !== order.returned) say(`${returned} returned by receipts of ${order.returned}`)
  if (order.taken !== order.refunded) say(`refunds took ${order.refunded}, ledger ${order.taken}`)
  if (order.returnedCompleted > completed) say('returned more as completed than was')
  if (completed + order.unused > order.price) say('more than its price')
  // What is still prepaid by the bank's receipts, and what the accountant was told to correct.
  const open = order.price - completed - (sum('returned') - sum('returned', 'fullPayment'))
  const told = returns.filter(isForAccountant).reduce((all, one) => all + corrected(one), 0n)
  if (order.isSettled && open - total(absent) + told !== 0n) {
    say(`${open} stay prepaid at the bank, and ${told} of corrections are known`)
  }
  if (order.isSettled && completed + order.unused !== order.price) {
    say(`${completed} completed and ${order.unused} returned of ${order.price}`)
  }
  const owed = due.get(order.id)
  if (!order.isSettled && rhythm === 'monthly' && completed !== owed) {
    say(`${completed} completed, and ${owed} were used by the end of the month`)
  }
  if (!order.isSettled && rhythm === 'at_end' && completed > 0n) say('completed before its end')
  if (!order.isSettled && order.left === 0n) say('used up, and not completed')
  return found
}

/** What was used of each pack, in kopecks, and is not more than what refunds have left of it. */
export function dueNow({ orders }: Pick<Facts, 'orders'>): Due {
  return new Map(
    orders.map(({ id, price, credits, left, taken, unused }) => {
      const value = price - (price * (left + taken)) / credits
      const most = price - unused
      return [id, value < most ? value : most]
    }),
  )
}

/** What a receipt of the portal returns as a prepayment, and should as completed. */
function corrected({ error }: Ours): bigint {
  const said = CORRECTED.exec(error ?? '')
  return BigInt(said?.[2] ?? '0') - BigInt(said?.[1] ?? '0')
}

function total(all: readonly { readonly amount: bigint }[]): bigint {
  return all.reduce((sum, { amount }) => sum + amount, 0n)
}
