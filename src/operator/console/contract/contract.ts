// The types of the console's answers, which its pages share with the server. Amounts are decimal
// text, because JSON's numbers are floats; times are ISO 8601 in UTC.

/** `exact` has up to six decimals; `whole` is rounded down, for display. */
export type Credits = { readonly whole: string; readonly exact: string }
export type Kopecks = string
export type Time = string
export type IntegerText = string

export type Role = 'viewer' | 'support' | 'finance' | 'admin'

export type Me = {
  readonly id: string
  readonly email: string
  readonly name: string
  readonly role: Role
  /** What the role may do; the pages show nothing else. */
  readonly permissions: readonly string[]
  readonly brand: string
  readonly cabinetUrl: string
  /** When the session ends, whatever the person does. */
  readonly endsAt: Time
}

/** One thing that a search found. `text` is what a person recognises it by. */
export type Hit = {
  readonly kind:
    | 'account'
    | 'book'
    | 'key'
    | 'order'
    | 'review'
    | 'request'
    | 'session'
    | 'promo'
    | 'registration'
  readonly id: string
  readonly text: string
  readonly state: string | null
  /** The account that it belongs to; null: it belongs to none, or to several. */
  readonly book: string | null
}

export type Found = {
  readonly hits: readonly Hit[]
  /** Why nothing was found, and what was perhaps meant; null when something was. */
  readonly advice: string | null
}

export type StopReason = 'operator_blocked' | 'owner_suspended' | 'velocity_stopped'

export type KeyLine = {
  readonly id: string
  readonly last4: string
  readonly state: 'active' | 'pending'
  readonly createdAt: Time
}

export type OrderLine = {
  readonly id: string
  readonly state: string
  readonly pack: string
  readonly credits: Credits
  readonly priceKopecks: Kopecks
  readonly refundedKopecks: Kopecks
  readonly method: string
  readonly receiptState: string | null
  readonly isTopUp: boolean
  readonly createdAt: Time
}

export type RefundLine = {
  readonly id: string
  readonly order: string
  readonly state: string
  readonly amountKopecks: Kopecks
  readonly by: string
  readonly reason: string
  readonly createdAt: Time
}

export type MandateLine = {
  readonly title: string
  readonly pack: string
  readonly priceKopecks: Kopecks
  readonly threshold: Credits
  readonly dayCeilingKopecks: Kopecks
  readonly monthCeilingKopecks: Kopecks
  readonly givenAt: Time
  readonly endedAt: Time | null
  readonly endedWhy: string | null
}

export type SessionLine = {
  readonly id: string
  readonly requests: IntegerText
  readonly spent: Credits
  readonly models: readonly string[]
  readonly lastAt: Time
}

export type LetterLine = {
  readonly kind: string
  readonly subject: string
  readonly state: 'queued' | 'sent' | 'failed'
  readonly postedAt: Time
}

export type RefusedLine = {
  readonly reason: string
  readonly requests: IntegerText
  readonly lastAt: Time
}

export type ClosingLine = {
  readonly step: 'closing' | 'drained' | 'refunded'
  readonly begunBy: 'owner' | 'operator'
  readonly begunAt: Time
  /** Why the next step is not taken yet, in the words of op closings. */
  readonly waits: readonly string[]
}

export type RecoveryLine = {
  readonly kind: 'mailbox' | 'authenticator' | 'both'
  readonly begunBy: 'owner' | 'operator'
  readonly begunAt: Time
  /** When it may be completed; null: its mailbox has not confirmed it yet. */
  readonly ripeAt: Time | null
}

export type Account = {
  readonly book: string
  /** Null: nobody owns this book. */
  readonly owner: {
    readonly id: string
    readonly email: string
    readonly hasSecondFactor: boolean
    readonly createdAt: Time
    readonly closedAt: Time | null
  } | null
  readonly available: Credits
  readonly held: Credits
  readonly debt: Credits
  readonly spentTotal: Credits
  readonly spent30Days: Credits
  readonly requests: IntegerText
  readonly requestsToday: IntegerText
  readonly stop: StopReason | null
  /** The stop that is in force again after the operator's is lifted. */
  readonly stopBeneath: StopReason | null
  /** The account is closing; null: it is open, or closed. */
  readonly closing: ClosingLine | null
  /** A lost mailbox or authenticator is being replaced. */
  readonly recovery: RecoveryLine | null
  readonly guards: {
    readonly dayLimit: Credits | null
    readonly daySpent: Credits
    readonly velocityLimit: Credits | null
    readonly velocitySeconds: number
  }
  readonly keys: readonly KeyLine[]
  readonly orders: readonly OrderLine[]
  readonly refunds: readonly RefundLine[]
  readonly mandate: MandateLine | null
  readonly sessions: readonly SessionLine[]
  readonly letters: readonly LetterLine[]
  readonly refused: readonly RefusedLine[]
  readonly acts: readonly Act[]
}

export type EntryLine = {
  readonly seq: IntegerText
  readonly at: Time
  readonly kind: string
  readonly amount: Credits
  readonly balance: Credits
  /** The request of a charge, by the id that the client got. */
  readonly request: string | null
  readonly model: string | null
  readonly ending: string | null
  readonly ref: string | null
  readonly note: string | null
}

/** count × each = credits, exactly. */
export type PriceLine = {
  /** The kind of tokens, or the tool. */
  readonly kind: string
  /** The model, where it is not the one of the request. */
  readonly model: string | null
  readonly count: IntegerText
  readonly each: string
  readonly credits: Credits
}

export type RequestDetails = {
  readonly id: string
  readonly book: string
  readonly email: string | null
  readonly model: string
  readonly state: 'open' | 'settled' | 'voided'
  readonly ending: string | null
  /** Why a free request is free; null for a charged one. */
  readonly reason: string | null
  readonly vendorRequestId: string | null
  readonly createdAt: Time
  readonly closedAt: Time | null
  readonly held: Credits
  readonly entry: IntegerText | null
  /** Null: nothing was charged. */
  readonly charge: {
    readonly catalogueVersion: number | null
    readonly list: string
    readonly lines: readonly PriceLine[]
    /** The sum of the lines. */
    readonly priced: Credits
    /** The part of the price above the hold, which the owner did not pay. */
    readonly writtenOff: Credits
    readonly charged: Credits
    readonly balanceBefore: Credits
    readonly balanceAfter: Credits
  } | null
  readonly session: string | null
  readonly totalMs: number | null
}

export type Act = {
  readonly id: IntegerText
  readonly at: Time
  readonly by: string
  readonly osUser: string
  readonly command: string
  /** `asked`: another person has to approve it. */
  readonly outcome: 'begun' | 'done' | 'asked' | 'refused' | 'failed'
  readonly detail: string
}

/** What a command answers to the console: a plan to confirm, or its end. */
export type CommandAnswer =
  | {
      readonly state: 'plan'
      readonly lines: readonly string[]
      /** Send it back to do exactly this. */
      readonly digest: string
      /** The plan differs from the one whose digest was sent: nothing was done. */
      readonly isChanged: boolean
    }
  | {
      /** `nothing`: there was nothing to do, or it was done before. */
      readonly state: 'done' | 'nothing' | 'asked'
      readonly lines: readonly string[]
      readonly act: IntegerText | null
    }

export type FigureUnit = 'kopecks' | 'microcredits' | 'count' | 'milliseconds' | 'tenths'

export type TodayFigure = {
  readonly name: string
  readonly unit: FigureUnit
  /** Null: not known, or there was nothing to measure. */
  readonly value: IntegerText | null
  /** The kind of rows that the figure is made of. */
  readonly of: string
}

/** From midnight to now. */
export type Today = {
  readonly day: string
  readonly timeZone: string
  readonly now: Time
  readonly figures: readonly TodayFigure[]
  readonly models: readonly {
    readonly name: string
    readonly requests: IntegerText
    readonly errors: IntegerText
    readonly spent: Credits
  }[]
  /** From midnight to now; `before`: requests in the same hour a day earlier. */
  readonly hours: readonly {
    readonly at: Time
    readonly requests: IntegerText
    readonly errors: IntegerText
    readonly spent: Credits
    readonly before: IntegerText
  }[]
  readonly refused: readonly { readonly reason: string; readonly requests: IntegerText }[]
  /** What each upstream costs by the vendor's prices; empty without them. */
  readonly costs: readonly { readonly upstream: string; readonly kopecks: Kopecks | null }[]
}

/** One credential at one upstream, as all processes see it. */
export type Upstream = {
  readonly target: string
  readonly upstream: string
  /** The state of the breaker, or why the credential is out of service. */
  readonly state: string
  readonly isDrained: boolean
  readonly underWay: number
  readonly succeeded: number
  readonly failed: number
}

/** A command above a limit that another person must approve. */
export type Approval = {
  readonly id: string
  readonly state: string
  readonly by: string
  readonly isOwn: boolean
  readonly command: string
  readonly plan: readonly string[]
  readonly askedAt: Time
  readonly endsAt: Time
  readonly detail: string
}
