// What other modules do while an account closes, when it is erased, and for the copy of its data.
// The accounts module imports none of them; src/wiring.ts provides these functions.
import type { Tx } from '../../platform/db/db.ts'
import type { BookId } from '../../platform/ids.ts'
import type { Addressed, ErasureHooks, Owner } from '../erasure/erasure.ts'
import type { Closing } from './process-queries.ts'

/** Orders that were paid after `begunAt` are refunded even if the owner chose to forfeit. */
type ClosingOwner = Owner & Pick<Closing, 'unspent' | 'begunAt'>

export type ClosingHooks = ErasureHooks & {
  /** Whether requests of the book are stopped already, by its owner or a limit. */
  isStopped(tx: Tx, book: BookId): Promise<boolean>
  /** Revokes the key, ends top-ups, stops the book. In the transaction that begins the closing. */
  onBegin(tx: Tx, owner: Owner): Promise<void>
  /** The owner stays: lets the book go on, unless it was stopped before. */
  onStop(tx: Tx, owner: Owner & Pick<Closing, 'wasStopped'>): Promise<void>
  /** Whether no request is under way and no order can be paid any more. Locks the book. */
  isDrained(tx: Tx, owner: Owner): Promise<boolean>
  /** Requests the refunds that are still missing. In transactions of its own; may be repeated. */
  requestRefunds(owner: ClosingOwner): Promise<void>
  /** Whether every refund has ended and no other is due. Locks the book. */
  isRefunded(tx: Tx, owner: ClosingOwner): Promise<boolean>
  /** Forfeits what is left; false when something came meanwhile. Locks the book. */
  onClose(tx: Tx, owner: ClosingOwner): Promise<boolean>
  /**
   * Reads what other modules hold about the person; the key is its name in the copy. A long list is
   * an async iterable; see json-parts.ts.
   */
  readonly exports: Readonly<Record<string, (owner: Addressed) => unknown>>
}
