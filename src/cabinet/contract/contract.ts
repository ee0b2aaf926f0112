// The types of the cabinet's HTTP answers. The browser's code imports them with `import type`, and
// the compiler checks the server's answers against them. This folder imports nothing of the server,
// so that no server code gets into the browser's bundle. The routes are in routes.ts; subjects with
// many types have files beside this one.
import type { AuthErrorCode, DeclineAdvice, DeclineReason, ErrorCode, OrderState } from './codes.ts'

export type { AuthErrorCode, DeclineAdvice, DeclineReason, ErrorCode, OrderState }

/** RFC 3339, UTC: `2026-11-15T04:15:00.000Z`. */
export type Time = string
/** A whole number of kopecks in decimal digits: `130000` is 1300.00 RUB. */
export type Kopecks = string
/** A whole number in decimal digits; it may exceed what a JavaScript number holds exactly. */
export type IntegerText = string

/** An amount of credits: `whole` is rounded down, for display; `exact` is what is owed. */
export type Credits = { readonly whole: IntegerText; readonly exact: string }

export type Language = 'ru' | 'en'
/** What an owner may have to prove again. A recovery code counts as a code of the app. */
export type Proof = 'password' | 'code'
/** The same text in every language of the pages. */
export type Localized = Readonly<Record<Language, string>>
export type Method = 'sbp' | 'card'

/** The body of every answer that is not 2xx. */
export type ErrorBody<Code extends string = ErrorCode | AuthErrorCode> = {
  readonly error: {
    readonly code: Code
    /** English, for people who read the traffic. */
    readonly message: string
    readonly retryAfterSeconds?: number
    /** Of `field_invalid`: the name of the field. */
    readonly field?: string
    /** Of `step_up_needed`: what to send to `/api/auth/step-up`. A passkey replaces all of it. */
    readonly needs?: readonly Proof[]
  }
  readonly requestId: string
}

export type DocumentLink = {
  readonly document: string
  readonly version: string
  /** A registration must accept it. */
  readonly isRequired: boolean
  readonly title: Localized
}

export type DocumentText = DocumentLink & { readonly language: Language; readonly markdown: string }

export type Brand = {
  readonly name: string
  readonly supportEmail: string
  /** The base URL for API clients. */
  readonly apiUrl: string
  /** Our keys begin with `sk-<slug>-api03-`. */
  readonly vendorSlug: string
  /** The seller's legal details: lines for the foot of a page. */
  readonly requisites: readonly string[]
  readonly documents: readonly DocumentLink[]
  /** The first one is the default. */
  readonly languages: readonly Language[]
  /** Whether anything can be bought now. */
  readonly isSelling: boolean
  readonly refundPolicy: 'prorata' | 'full' | 'none'
  /** Credits for new accounts after confirmation, while they last; null: none. */
  readonly trialCredits: Credits | null
}

/** What credits cost at the price of a pack. */
export type PackPrice = {
  readonly credits: Credits
  readonly priceKopecks: Kopecks
  /** Rounded up: we never promise a better price than we charge. */
  readonly kopecksPerMillion: Kopecks
}

export type Pack = PackPrice & {
  readonly id: string
  readonly name: Localized
  /** Compared with the pack with the highest price per credit, rounded down; 0 for that pack. */
  readonly savingPercent: number
  /** Payment methods that accept this sum, SBP first; empty when nothing can be bought. */
  readonly methods: readonly Method[]
}

export type Me = {
  readonly account: string
  readonly email: string
  readonly language: Language
  /** The time zone of e-mails and statements; null: none was chosen, UTC is used. */
  readonly zone: string | null
  readonly signedInAt: Time
  readonly sessions: number
  readonly passkeys: number
  readonly hasSecondFactor: boolean
  /** The password was reset then, and the owner has not reviewed passkeys and keys since. */
  readonly resetAt: Time | null
  /** The address was changed; until then the old mailbox can undo it. */
  readonly emailChange: { readonly oldEmail: string; readonly undoUntil: Time } | null
  /** A recovery that waits or can be completed; any session may stop it. */
  readonly recovery: {
    readonly lost: 'authenticator' | 'mailbox' | 'both'
    readonly newEmail: string | null
    readonly ripeAt: Time
  } | null
  /** Required documents whose version in force the owner has not accepted. */
  readonly consentsOutstanding: readonly DocumentLink[]
  /** The account is being closed: nothing can be bought and no key be made. */
  readonly isClosing: boolean
  /** An e-mail comes each month with usage, purchases and receipts. */
  readonly hasSummaries: boolean
}

export type SessionLine = {
  readonly id: string
  readonly device: string
  readonly address: string
  readonly signedInAt: Time
  readonly lastSeenAt: Time
  readonly expiresAt: Time
  readonly isCurrent: boolean
}

export type PasskeyLine = { readonly id: string; readonly name: string; readonly createdAt: Time }

export type Consents = {
  readonly given: readonly {
    readonly document: string
    readonly version: string
    readonly acceptedAt: Time
  }[]
  readonly outstanding: readonly DocumentLink[]
}

export type UnspentChoice = 'refund' | 'forfeit'

export type NextStep = 'buy' | 'key' | 'request' | 'done'

export type UsageDay = {
  /** A day of the requested time zone: `2026-11-15`. */
  readonly day: string
  readonly requests: IntegerText
  readonly credits: Credits
}

export type Home = {
  readonly at: Time
  readonly balance: {
    readonly available: Credits
    /** Set aside for running requests. */
    readonly held: Credits
    readonly debt: Credits
  }
  /** The available credits at the price of the pack bought last; null: no pack was bought. */
  readonly worth: { readonly kopecks: Kopecks; readonly pack: PackPrice } | null
  /** How fast the owner spends: the same figures as in the warning e-mail and in `lowBy`. */
  readonly pace: {
    /** The average is over this many days: 1 to 7, usually 4 to 7. */
    readonly overDays: number
    readonly creditsPerDay: Credits
    /** Whole days until the credits are spent at that pace; null when nothing was spent. */
    readonly daysLeft: number | null
  }
  /** Oldest first, today last, also days without requests. */
  readonly days: readonly UsageDay[]
  readonly zone: string
  /**
   * Whether the balance is below one of the owner's thresholds, as for the warning e-mail. An
   * owner without thresholds: whether it is below a tenth of the pack bought last.
   */
  readonly isLow: boolean
  readonly lowBy: 'credits' | 'days' | 'pack' | null
  /** The owner's threshold in credits, else a tenth of the pack bought last; null: neither. */
  readonly lowBelow: Credits | null
  /** The owner's threshold in days at the current pace; null: none. */
  readonly lowDays: number | null
  /**
   * A request was refused today because it could cost more than what is left of the daily limit;
   * null: none was, or it would be served now.
   */
  readonly beyondDayLimit: {
    readonly dayLimit: Credits
    readonly needed: Credits
    readonly left: Credits
    /** When the limit's day, a UTC day, ends. */
    readonly resetsAt: Time
  } | null
  /** The credits of the owner's trial, who has bought nothing yet; null otherwise. */
  readonly trial: Credits | null
  /** Why all requests are refused, independent of the balance; null: they are not. */
  readonly blocked: 'operator_blocked' | 'owner_suspended' | 'velocity_stopped' | null
  readonly nextStep: NextStep
  readonly requests: {
    readonly total: IntegerText
    readonly firstAt: Time | null
    readonly lastAt: Time | null
  }
}

/** One request as the ledger recorded it; its content is stored nowhere. */
export type RequestLine = {
  readonly requestId: string
  readonly at: Time
  readonly model: string | null
  /** How it ended; usually `complete`. */
  readonly ending: string | null
  readonly input: IntegerText
  readonly output: IntegerText
  readonly cacheRead: IntegerText
  readonly cacheWrite: IntegerText
  readonly credits: Credits
  readonly isFree: boolean
}

export type RecentRequests = {
  readonly total: IntegerText
  readonly latest: readonly RequestLine[]
}

export type Order = {
  readonly id: string
  readonly state: OrderState
  readonly method: Method
  readonly pack: { readonly id: string; readonly title: string; readonly credits: Credits }
  readonly priceKopecks: Kopecks
  readonly refundedKopecks: Kopecks
  /** Only while it can be paid: a URL to open, or text to draw as a QR code. */
  readonly confirmation: { readonly kind: 'redirect' | 'qr'; readonly value: string } | null
  readonly payableUntil: Time | null
  /** For canceled and failed orders. */
  readonly decline: { readonly reason: DeclineReason; readonly advice: DeclineAdvice } | null
  /** The fiscal receipt, which the provider e-mails to the owner; null: there is none. */
  readonly receipt: { readonly state: 'pending' | 'succeeded' | 'canceled' } | null
  readonly createdAt: Time
  readonly creditedAt: Time | null
  /** Bought by an automatic top-up. */
  readonly isTopUp: boolean
}

export type Refund = {
  readonly id: string
  readonly order: string
  readonly state: 'created' | 'pending' | 'succeeded' | 'canceled'
  readonly amountKopecks: Kopecks
  readonly credits: Credits
  readonly createdAt: Time
  readonly endedAt: Time | null
}

/** An order as its owner reads it; live updates have no `unspent`, which each request changes. */
export type OrderWithUnspent = Order & {
  /** Its credits that are neither spent nor taken back; null: it was never credited. */
  readonly unspent: Credits | null
}

/** A receipt under 54-FZ: of the prepayment, of used credits, of a refund. */
export type Receipt = {
  readonly id: string
  readonly kind: 'prepayment' | 'completion' | 'return'
  readonly amountKopecks: Kopecks
  /** `separate`: made by a person, not here. */
  readonly state: 'waiting' | 'registered' | 'separate'
  readonly createdAt: Time
  /** Until when the credits of a completion were used. */
  readonly usedUntil: Time | null
  /** Its numbers; null until it is registered. */
  readonly fiscal: {
    readonly document: string
    readonly storage: string
    readonly sign: string
    readonly registeredAt: Time
    /** The text of its QR code. */
    readonly qr: string
    /** Where it can be checked; null: the seller has set no address. */
    readonly url: string | null
  } | null
}

export type OrderWithRefunds = OrderWithUnspent & {
  readonly refunds: readonly Refund[]
  readonly receipts: readonly Receipt[]
}

export type Refundable = {
  readonly amountKopecks: Kopecks
  readonly credits: Credits
  /** Why nothing can be refunded; null when something can. */
  readonly why:
    | 'not_credited'
    | 'disputed'
    | 'policy'
    | 'spent'
    | 'refunded'
    | 'budget'
    | 'promo'
    | null
}

export type Key = {
  readonly id: string
  readonly last4: string
  readonly createdAt: Time
}

export type KeyState = {
  /** `locked`: nothing was bought yet, and there is no trial. `none`: one can be created. */
  readonly state: 'locked' | 'none' | 'active'
  readonly active: (Key & { readonly lastUsedAt: Time | null }) | null
  /** Created and not confirmed: it does not work yet. */
  readonly pending: Key | null
}

/** What a thief may have made before a password reset. */
export type ResetReview = {
  /** Null: no review is due. */
  readonly resetAt: Time | null
  readonly passkeys: readonly PasskeyLine[]
  readonly keys: readonly Key[]
}

/** The plain key is in this answer and nowhere else. */
export type NewKey = Key & { readonly plain: string }

/**
 * Events of `GET /api/live`, each with JSON data. A new stream first gets home, key, requests and
 * the orders that are created, pending, in review or being refunded; later only what has changed.
 */
export type LiveEvents = {
  readonly home: Home
  readonly order: Order
  readonly key: KeyState
  readonly requests: RecentRequests
  /** The last event. `session`: signed out or revoked. `server`: open the stream again. */
  readonly end: { readonly why: 'session' | 'server' }
}
