// Shares a bounded resource of this process between accounts: bytes of request bodies, connections,
// places in a queue. While a quarter of it is free, no account is limited. The last quarter is for
// accounts within their fair share: the capacity divided by the accounts that use it, and at least
// `least`; so an account alone may use everything. When all is in use, an account within its share
// takes from the heaviest one that is above its own: that account's largest use is shed.
import type { BookId } from './ids.ts'

/** Otherwise a few accounts could use up a small capacity and be within their shares. */
const LEAST_PART_MAX = 1 / 16
/** The part of the capacity in which no account is limited. */
const UNLIMITED_PART = 0.75
/**
 * An account counts among those that share for this long after its last use, up to twice as long.
 * Otherwise a heavy account would take every place that a small one leaves, and lose a request each
 * time the small one comes back.
 */
const PRESENT_MS = 30_000

type SharesOptions = {
  readonly capacity: number
  /**
   * What an account may use however many others there are; at most a sixteenth of the capacity, and
   * at least 1.
   */
  readonly least: number
  readonly spanMs: () => number
}

/** What uses belong to: a request. Its uses may be shed while `onShed` is set. */
export type Holder = { onShed: (() => void) | undefined }

/** What one account uses now, and how often it was refused or shed since it came. */
type ShareView = {
  readonly book: BookId
  readonly used: number
  readonly refused: number
  readonly shed: number
}

type Account = { -readonly [Key in keyof ShareView]: ShareView[Key] } & {
  readonly uses: Set<Use>
  /** When it last opened a use, in units of PRESENT_MS. */
  period: number
}

export function createShares(options: SharesOptions): Shares {
  return new Shares(options)
}

// A class, like its uses: every request opens several.
export class Shares {
  readonly capacity: number
  readonly totals = { used: 0, refused: 0, shed: 0 }
  /** Called after a use was closed. */
  onFree: () => void = () => {}
  private readonly options: SharesOptions
  private readonly least: number
  private readonly accounts = new Map<BookId, Account>()
  private period = 0

  constructor(options: SharesOptions) {
    this.options = options
    this.capacity = options.capacity
    this.least = Math.max(1, Math.min(options.least, options.capacity * LEAST_PART_MAX))
  }

  open(book: BookId, holder: Holder): Use {
    this.forgetAbsent()
    let account = this.accounts.get(book)
    if (account === undefined) {
      account = { book, uses: new Set(), used: 0, refused: 0, shed: 0, period: 0 }
      this.accounts.set(book, account)
    }
    account.period = this.period
    return new Use(this, account, holder)
  }

  usedBy(book: BookId): number {
    return this.accounts.get(book)?.used ?? 0
  }

  /** Whether an account besides this one uses some of it, or did so lately. */
  hasOther(book: BookId): boolean {
    return this.accounts.size > (this.accounts.has(book) ? 1 : 0)
  }

  /** Accounts that use some of it, or did so within the last half minute to minute. */
  get size(): number {
    return this.accounts.size
  }

  /** The accounts that use most of it, then those that were refused most often. */
  busiest(limit: number): ShareView[] {
    return [...this.accounts.values()]
      .sort((a, b) => b.used - a.used || b.refused - a.refused)
      .slice(0, limit)
      .map(({ book, used, refused, shed }) => ({ book, used, refused, shed }))
  }

  /** Called by a use: whether its account may take so much more. Sheds what must make room. */
  grants({ used }: Account, amount: number): boolean {
    const total = this.totals.used + amount
    if (total <= this.capacity * UNLIMITED_PART) return true
    const share = Math.max(this.least, this.capacity / this.accounts.size)
    if (used + amount > share) return false
    if (total <= this.capacity) return true
    const victims = this.victims(share, total - this.capacity)
    this.totals.shed += victims.size
    for (const victim of victims) victim.shed()
    return victims.size > 0
  }

  /**
   * What is shed to free this much: the largest use of the account that is then the heaviest above
   * its share, of equal uses the newest, and so on. Nothing if all of it would not be enough.
   */
  private victims(share: number, needed: number): Set<Use> {
    const victims = new Set<Use>()
    const heavy = [...this.accounts.values()]
      .filter(({ used }) => used > share)
      .map((account) => ({ account, used: account.used }))
    for (let freed = 0; freed < needed; ) {
      let found: { readonly from: (typeof heavy)[number]; readonly use: Use } | undefined
      for (const from of heavy) {
        if (from.used <= Math.max(share, found?.from.used ?? 0)) continue
        const use = largestOf(from.account, victims)
        if (use !== undefined) found = { from, use }
      }
      if (found === undefined) return new Set()
      const { from, use } = found
      victims.add(use)
      freed += use.amount
      from.used -= use.amount
    }
    return victims
  }

  /** Looks at all accounts once in PRESENT_MS. */
  private forgetAbsent(): void {
    const period = Math.floor(this.options.spanMs() / PRESENT_MS)
    if (period === this.period) return
    for (const { book, uses, period: last } of this.accounts.values()) {
      if (uses.size === 0 && last < period - 1) this.accounts.delete(book)
    }
    this.period = period
  }
}

/** Of what can be shed; of equal uses the newest. */
function largestOf({ uses }: Account, besides: ReadonlySet<Use>): Use | undefined {
  let largest: Use | undefined
  for (const use of uses) {
    if (!use.isSheddable || besides.has(use)) continue
    if (largest === undefined || use.amount >= largest.amount) largest = use
  }
  return largest
}

/** What one request uses of one resource. */
export class Use {
  amount = 0
  private readonly shares: Shares
  private readonly account: Account
  private readonly holder: Holder

  constructor(shares: Shares, account: Account, holder: Holder) {
    this.shares = shares
    this.account = account
    this.holder = holder
    account.uses.add(this)
  }

  /** Takes this much more; false when it is refused, and then nothing was taken. */
  take(amount: number): boolean {
    if (this.tryTake(amount)) return true
    this.account.refused += 1
    this.shares.totals.refused += 1
    return false
  }

  /** The same for a request that can wait: it does not count as refused. */
  tryTake(amount: number): boolean {
    const { account, shares } = this
    if (!account.uses.has(this) || !shares.grants(account, amount)) return false
    this.amount += amount
    account.used += amount
    shares.totals.used += amount
    return true
  }

  /** Returns all that was taken. May be repeated; a closed use takes nothing more. */
  close(): void {
    if (!this.account.uses.has(this)) return
    this.release()
    this.shares.onFree()
  }

  get isSheddable(): boolean {
    return this.amount > 0 && this.holder.onShed !== undefined
  }

  /** Called by its shares, in favour of another account: nobody else gets what becomes free. */
  shed(): void {
    const { onShed } = this.holder
    this.holder.onShed = undefined
    this.account.shed += 1
    this.release()
    onShed?.()
  }

  private release(): void {
    this.account.uses.delete(this)
    this.account.used -= this.amount
    this.shares.totals.used -= this.amount
    this.amount = 0
  }
}
