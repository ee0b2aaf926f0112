// Slots of which each request takes one, such as connections. A request that gets none waits; the
// waiting requests take places in another resource that accounts share, so that their number is
// bounded. A slot that becomes free goes to the waiting account that has the fewest.
import type { BookId } from './ids.ts'
import { createShares, type Holder, type Shares, type Use } from './shares.ts'

/**
 * Requests of a process that may wait at a time for the database, a target, a connection to an
 * upstream or a free endpoint. A failover takes 25 s, so they are those of 650 requests a second.
 */
const WAITING_MAX = 16_384
/** An agent and its helpers send about this many requests at once. */
const WAITING_LEAST = 16

export function createWaitingPlaces(spanMs: () => number, capacity = WAITING_MAX): Shares {
  return createShares({ capacity, least: WAITING_LEAST, spanMs })
}

export function createSlots(shares: Shares, places: Shares): Slots {
  return new Slots(shares, places)
}

export class Slots {
  private readonly shares: Shares
  private readonly places: Shares
  /** The accounts take turns; in each set those that wait longest come first. */
  private readonly queues = new Map<BookId, Set<Slot>>()

  constructor(shares: Shares, places: Shares) {
    this.shares = shares
    this.places = places
    shares.onFree = () => this.admit()
  }

  /**
   * Calls `enter` at once, or when a slot is free. Undefined when no place to wait is left; `enter`
   * is then never called.
   */
  take(book: BookId, holder: Holder, enter: () => void): Slot | undefined {
    const use = this.shares.open(book, holder)
    if (!this.queues.has(book) && use.tryTake(1)) {
      enter()
      return new Slot(this, book, use, undefined, enter)
    }
    const place = this.places.open(book, holder)
    if (!place.take(1)) {
      place.close()
      use.close()
      return undefined
    }
    const slot = new Slot(this, book, use, place, enter)
    const queue = this.queues.get(book) ?? new Set()
    this.queues.set(book, queue.add(slot))
    return slot
  }

  /** Called by a slot when it stops waiting. */
  leave(slot: Slot): void {
    const queue = this.queues.get(slot.book)
    if (!queue?.delete(slot)) return
    // To the end of the map: of accounts with equally many slots, another one is next.
    this.queues.delete(slot.book)
    if (queue.size > 0) this.queues.set(slot.book, queue)
  }

  private admit(): void {
    for (let next = this.next(); next?.use.tryTake(1); next = this.next()) next.admit()
  }

  /** If it is refused, all others are: their accounts have as many slots or more. */
  private next(): Slot | undefined {
    let fewest = Number.POSITIVE_INFINITY
    let found: Slot | undefined
    for (const [book, [first]] of this.queues) {
      const used = this.shares.usedBy(book)
      if (used < fewest) [fewest, found] = [used, first]
      if (used === 0) break // none has fewer; thousands of accounts may wait
    }
    return found
  }
}

export class Slot {
  readonly book: BookId
  readonly use: Use
  private readonly slots: Slots
  private readonly place: Use | undefined
  private readonly enter: () => void

  constructor(slots: Slots, book: BookId, use: Use, place: Use | undefined, enter: () => void) {
    this.slots = slots
    this.book = book
    this.use = use
    this.place = place
    this.enter = enter
  }

  /** Leaves the slot, or the queue. May be repeated. */
  close(): void {
    this.stopWaiting()
    this.use.close()
  }

  /** Called by the slots: it has taken one. */
  admit(): void {
    this.stopWaiting()
    this.enter()
  }

  private stopWaiting(): void {
    this.slots.leave(this)
    this.place?.close()
  }
}
