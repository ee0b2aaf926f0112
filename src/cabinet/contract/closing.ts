// What the pages about closing an account show.
import type { Credits, Kopecks, Time, UnspentChoice } from './contract.ts'

/** Either what closing would do now, or how far the closing is. */
export type Closing = {
  readonly preview: ClosingPreview | null
  readonly process: ClosingProcess | null
}

/** What closing the account would do now. */
export type ClosingPreview = {
  readonly available: Credits
  /** Of running requests: what they leave is refunded after them. */
  readonly held: Credits
  /** Orders that can still be paid; the closing waits until they run out. */
  readonly payableOrders: number
  readonly refundKopecks: Kopecks
  /** The part of it that support decides about. */
  readonly reviewedKopecks: Kopecks
  /** What is forfeited even if the owner chooses the refund. */
  readonly forfeited: Credits
}

/** The steps up to the end; a closed account has no session that could read it. */
export type ClosingProcess = {
  readonly step: 'closing' | 'drained' | 'refunded'
  readonly unspent: UnspentChoice
  readonly begunBy: 'owner' | 'operator'
  readonly begunAt: Time
  readonly drainedAt: Time | null
  readonly refundedAt: Time | null
  /** Until the first refund is requested. */
  readonly canStop: boolean
  readonly payableOrders: number
  /** Orders with credits left that wait until the bank has decided a dispute. */
  readonly disputedOrders: number
  readonly held: Credits
  readonly available: Credits
  readonly refunds: readonly ClosingRefund[]
}

export type ClosingRefund = {
  readonly id: string
  readonly order: string
  readonly amountKopecks: Kopecks
  readonly credits: Credits
  /**
   * `sent`: the bank is doing it. `again`: the bank refused and is asked again at `againAt`.
   * `review`: support decides. `dismissed`: support decided that no money goes back this way.
   */
  readonly state: 'sent' | 'again' | 'review' | 'returned' | 'dismissed'
  readonly at: Time
  readonly againAt: Time | null
}
