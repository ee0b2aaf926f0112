// What became of each lot of a book up to a moment: taken back, used, adjusted, left. The rule is
// that of refunds (ledger_lots in sql/post.sql): everything spent is laid over the lots, oldest
// first. Pure arithmetic on postings.
import type { EntryKind } from '../queries.ts'

export type BookPosting = {
  readonly seq: bigint
  readonly kind: EntryKind
  readonly ref: string
  readonly amount: bigint
  readonly lot: bigint | null
  readonly at: Date
}

/** Microcredits of one lot; credited = refunded + disputed + used + adjusted + left. */
export type LotState = {
  readonly refunded: bigint
  /** Set aside for an open dispute, or taken by a lost one. */
  readonly disputed: bigint
  readonly used: bigint
  /** Taken by adjustments, and by debits that exceed their lot. */
  readonly adjusted: bigint
  readonly left: bigint
}

export type StatedLot = LotState & {
  readonly seq: bigint
  readonly kind: EntryKind
  readonly ref: string
  readonly credited: bigint
  readonly at: Date
}

export type BookState = {
  readonly lots: readonly StatedLot[]
  readonly spent: bigint
  /** What was used, and what was adjusted, beyond all lots: together the debt. */
  readonly usedBeyond: bigint
  readonly adjustedBeyond: bigint
  readonly balance: bigint
}

/** What each kind of entry does to lots. A new kind does not compile until it is decided here. */
const roles = {
  purchase: 'credit',
  promo: 'credit',
  transfer: 'credit',
  // Upwards it is a lot of its own; downwards it belongs to none.
  adjust: 'credit',
  refund: 'taking',
  refund_reversal: 'taking',
  forced_debit: 'taking',
  charge: 'request',
  void: 'request',
} as const satisfies Record<EntryKind, 'credit' | 'taking' | 'request'>

/** Disputes post under their own ids, refunds under theirs. */
export const isOfDispute = (ref: string): boolean => ref.startsWith('dsp_')

export const isCredit = ({ kind, amount }: Pick<BookPosting, 'kind' | 'amount'>): boolean =>
  roles[kind] === 'credit' && amount > 0n

type Open = { -readonly [Name in keyof StatedLot]: StatedLot[Name] }

/** `postings` are a book's before the moment, oldest first; `spent` is the sum of its charges. */
export function stateOf(postings: readonly BookPosting[], spent: bigint): BookState {
  const lots = new Map<bigint, Open>()
  let balance = -spent
  for (const posting of postings) {
    balance += posting.amount
    if (isCredit(posting)) {
      const { seq, kind, ref, amount: credited, at } = posting
      const nothing = { refunded: 0n, disputed: 0n, used: 0n, adjusted: 0n, left: 0n }
      lots.set(seq, { seq, kind, ref, credited, at, ...nothing })
    } else if (roles[posting.kind] === 'taking') take(lots, posting)
  }
  const stated = [...lots.values()]
  const usedBeyond = lay(stated, spent, 'used')
  const untaken = stated.reduce((sum, lot) => sum + ownOf(lot), 0n)
  const adjustedBeyond = lay(stated, untaken - spent - balance, 'adjusted')
  for (const lot of stated) lot.left = ownOf(lot) - lot.used - lot.adjusted
  return { lots: stated, spent, usedBeyond, adjustedBeyond, balance }
}

/** As ledger_forced_debit does it: a lot gives no more than it has, the rest is an adjustment. */
function take(lots: ReadonlyMap<bigint, Open>, { lot, kind, ref, amount }: BookPosting): void {
  const open = lot === null ? undefined : lots.get(lot)
  if (open === undefined) return
  const most = kind === 'forced_debit' ? ownOf(open) : -amount
  const taken = -amount < most ? -amount : most
  if (isOfDispute(ref)) open.disputed += taken
  else open.refunded += taken
}

const ownOf = (lot: Open) => lot.credited - lot.refunded - lot.disputed

/** Lays an amount over what the lots have, oldest first; returns what no lot covers. */
function lay(lots: readonly Open[], amount: bigint, as: 'used' | 'adjusted'): bigint {
  let rest = amount
  for (const lot of lots) {
    const room = ownOf(lot) - lot.used
    const laid = rest < room ? rest : room
    lot[as] = laid
    rest -= laid
  }
  return rest
}
