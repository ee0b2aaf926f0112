// What waits for a person, and the rows that figures are made of. Amounts are decimal text, because
// JSON's numbers are floats; times are ISO 8601 in UTC.
import type { Credits, FigureUnit, IntegerText, Kopecks, Time } from './contract.ts'

export type DisputeLine = {
  readonly id: string
  readonly order: string
  readonly amountKopecks: Kopecks
  readonly reserved: Credits
  readonly openedAt: Time
  /** Until when the bank accepts evidence. */
  readonly answerBy: Time
  readonly isOverdue: boolean
}

/** An order that was paid and not credited, or that has no end after the payer's hour. */
export type StuckOrderLine = {
  readonly id: string
  readonly book: string
  readonly state: string
  readonly pack: string
  readonly priceKopecks: Kopecks
  readonly createdAt: Time
  readonly paidAt: Time | null
}

/** A receipt that the provider could not register. */
export type ReceiptLine = {
  readonly order: string
  readonly kind: 'prepayment' | 'completion' | 'return'
  /** Why; null: the payment only says that it was canceled. */
  readonly error: string | null
  /** When a worker makes it again; null: only a person can. */
  readonly againAt: Time | null
  readonly book: string
  readonly email: string
  readonly amountKopecks: Kopecks
  readonly creditedAt: Time
}

/** What accounts of one person often share: a reason to look, never a reason to refuse. */
export type SignalLine = {
  readonly kind: 'card' | 'bank' | 'refunds' | 'tries'
  /** The card's digest, or bank and code; empty where the account itself is the subject. */
  readonly of: string
  readonly count: number
  readonly amountKopecks: Kopecks | null
  readonly lastAt: Time | null
  readonly accounts: readonly { readonly book: string; readonly name: string }[]
}

export type Queues = {
  readonly reviews: readonly {
    readonly id: IntegerText
    readonly order: string | null
    readonly reason: string
    readonly detail: string
    readonly amountKopecks: Kopecks | null
    readonly hasMoney: boolean
    readonly openedAt: Time
  }[]
  /** Those that end first are first. */
  readonly disputes: readonly DisputeLine[]
  readonly stuckOrders: readonly StuckOrderLine[]
  readonly receipts: readonly ReceiptLine[]
  readonly quarantine: readonly {
    readonly request: string
    readonly reason: string
    readonly priced: Credits
  }[]
  readonly letters: readonly {
    readonly id: string
    readonly kind: string
    readonly recipient: string
    readonly state: 'queued' | 'failed'
    readonly attempts: number
    readonly error: string
    readonly postedAt: Time
  }[]
  /** Newest first: registered or invited, and not confirmed. */
  readonly registrations: readonly {
    readonly id: string
    readonly email: string
    readonly isInvited: boolean
    readonly isExpired: boolean
    readonly createdAt: Time
    /** What became of the e-mail with the link; null when it is not kept any more. */
    readonly letter: {
      readonly state: 'queued' | 'sent' | 'failed'
      readonly error: string | null
    } | null
  }[]
  readonly signals: readonly SignalLine[]
}

/** A file that the page saves. */
export type EvidenceFile = { readonly name: string; readonly html: string }

export type FigureRowKind = 'order' | 'refund' | 'dispute' | 'review' | 'lot' | 'request' | 'book'

export type FigureRow = {
  readonly id: string
  readonly book: string | null
  /** What a person recognises it by, such as a pack or a model. */
  readonly text: string
  readonly state: string | null
  /** Null for a balance, which is that of now. */
  readonly at: Time | null
  /** In the unit of the figure. */
  readonly amount: IntegerText
}

/** A page of the rows that a figure of a day is made of. */
export type FigureRows = {
  readonly name: string
  readonly kind: FigureRowKind
  readonly unit: FigureUnit
  readonly day: string
  readonly timeZone: string
  readonly count: IntegerText
  /** The sum of all rows, which is the figure; null for times, which are not added up. */
  readonly total: IntegerText | null
  readonly rows: readonly FigureRow[]
  readonly next: string | null
}
