// What the cabinet says over HTTP, as types alone: the browser imports them with `import type`, and
// the server's answers are checked against them. It imports nothing of the server, so that a
// browser's program never reads it. The routes are in routes.ts; a part with many answers
// of its own has them in a file beside it.
import type { AuthErrorCode, DeclineAdvice, DeclineReason, ErrorCode, OrderState } from './codes.ts'

export type { AuthErrorCode, DeclineAdvice, DeclineReason, ErrorCode, OrderState }

/** RFC 3339, UTC: `2026-11-15T04:15:00.000Z`. */
export type Time = string
/** A whole number of kopecks in decimal digits: `130000` is 1300.00 RUB. */
export type Kopecks = string
/** A whole number in decimal digits; it may be beyond what a JavaScript number holds. */
export type Whole = string

/** An amount of credits: `whole` is rounded down and for reading, `exact` is what is owed. */
export type Credits = { readonly whole: Whole; readonly exact: string }

export type Language = 'ru' | 'en'
export type Method = 'sbp' | 'card'

/** The body of every answer that is not 2xx. */
export type No<Code extends string = ErrorCode | AuthErrorCode> = {
  readonly error: {
    readonly code: Code
    /** English, for whoever reads the traffic. */
    readonly message: string
    readonly retryAfterSeconds?: number
    /** Of `field_invalid`: the name of the field. */
    readonly field?: string
  }
  readonly requestId: string
}

export type DocumentLink = {
  readonly document: string
  readonly version: string
  /** Must be agreed to by whoever registers. */
  readonly isRequired: boolean
  readonly title: Readonly<Record<Language, string>>
}

export type DocumentText = DocumentLink & { readonly language: Language; readonly markdown: string }

export type Brand = {
  readonly name: string
  readonly supportEmail: string
  /** What clients take as base address. */
  readonly apiUrl: string
  /** `sk-<slug>-api03-…` is how our keys begin. */
  readonly vendorSlug: string
  /** Who sells: lines for the foot of a page. */
  readonly requisites: readonly string[]
  readonly documents: readonly DocumentLink[]
  /** The first one is for who has not chosen. */
  readonly languages: readonly Language[]
  /** Whether anything can be bought now. */
  readonly isSelling: boolean
  readonly refundPolicy: 'prorata' | 'full' | 'none'
}

export type Pack = {
  readonly id: string
  readonly name: string
  readonly credits: Credits
  readonly priceKopecks: Kopecks
  /** Rounded up: nobody is promised a better price than there is. */
  readonly kopecksPerMillion: Kopecks
  /** Against the dearest pack per credit, rounded down; 0 for that one. */
  readonly savingPercent: number
  /** Ways to pay that take this sum, SBP first; empty when nothing can be bought. */
  readonly methods: readonly Method[]
}

export type ModelPrice = {
  readonly id: string
  readonly name: string
  readonly contextWindow: Whole
  readonly outputCeiling: Whole
  /** Credits per token, exact decimal text such as `1.25`. An input token costs one credit. */
  readonly coefficient: string
  readonly weights: {
    readonly cacheRead: string
    readonly cacheWrite5m: string
    readonly cacheWrite1h: string
  }
}

export type Prices = {
  readonly catalogueVersion: number
  readonly packs: readonly Pack[]
  readonly models: readonly ModelPrice[]
}

export type Me = {
  readonly account: string
  readonly email: string
  readonly language: Language
  /** In which letters and statements are written; null: UTC, none was chosen. */
  readonly zone: string | null
  readonly signedInAt: Time
  /** Fresh: signed in a few minutes ago, enough for what could cost the account. */
  readonly isFresh: boolean
  readonly sessions: number
  readonly passkeys: number
  readonly hasSecondFactor: boolean
  /** Documents whose version in force the owner has not agreed to. */
  readonly consentsOutstanding: readonly DocumentLink[]
  /** Closed accounts cannot sign in, so this is what still stands in the way of closing one. */
  readonly closing: { readonly isPossible: boolean; readonly payableOrders: number }
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

export type Unspent = 'refund' | 'forfeit'

/** What closing would do now. */
export type Closing = {
  readonly isPossible: boolean
  /** Orders that can still be paid; they run out within the hour. */
  readonly payableOrders: number
  readonly available: Credits
  /** What would go back with `refund`; 0 when the rules or what was spent leave nothing. */
  readonly refundKopecks: Kopecks
  /** What would be given up all the same: promo credits and what a kopeck cannot express. */
  readonly forfeited: Credits
}

export type NextStep = 'buy' | 'key' | 'request' | 'done'

export type UsageDay = {
  /** Of the asked time zone: `2026-11-15`. */
  readonly day: string
  readonly requests: Whole
  readonly credits: Credits
}

export type Home = {
  readonly at: Time
  readonly balance: {
    readonly available: Credits
    /** Set aside for requests under way. */
    readonly held: Credits
    readonly debt: Credits
  }
  /** What the available credits cost at the price of the pack bought last; null: none was. */
  readonly worth: {
    readonly kopecks: Kopecks
    readonly packName: string
    readonly kopecksPerMillion: Kopecks
  } | null
  readonly pace: {
    /** The pace of so many days: 7, or fewer when the first request is younger. */
    readonly overDays: number
    readonly creditsPerDay: Credits
    /** Whole days at that pace; null when nothing was spent. */
    readonly daysLeft: number | null
  }
  /** Oldest first, today last, none left out. */
  readonly days: readonly UsageDay[]
  readonly zone: string
  /** As the letter about it says: by the owner's own line, or by the last pack without any. */
  readonly isLow: boolean
  readonly lowBy: 'credits' | 'days' | 'pack' | null
  /** The owner's line in credits, else a tenth of the pack bought last; null: neither. */
  readonly lowBelow: Credits | null
  /** The owner's line in days at the pace of the last days; null: none. */
  readonly lowDays: number | null
  /** Why requests are refused whatever the balance is. */
  readonly blocked: 'operator_blocked' | 'owner_suspended' | 'velocity_stopped' | null
  readonly nextStep: NextStep
  readonly requests: {
    readonly total: Whole
    readonly firstAt: Time | null
    readonly lastAt: Time | null
  }
}

/** One request as the ledger has it; what was said in it is kept nowhere. */
export type RequestLine = {
  readonly requestId: string
  readonly at: Time
  readonly model: string | null
  /** How it ended; `complete` is the ordinary way. */
  readonly ending: string | null
  readonly input: Whole
  readonly output: Whole
  readonly cacheRead: Whole
  readonly cacheWrite: Whole
  readonly credits: Credits
  readonly isFree: boolean
}

export type Requests = { readonly total: Whole; readonly latest: readonly RequestLine[] }

export type Order = {
  readonly id: string
  readonly state: OrderState
  readonly method: Method
  readonly pack: { readonly id: string; readonly title: string; readonly credits: Credits }
  readonly priceKopecks: Kopecks
  readonly refundedKopecks: Kopecks
  /** Only while it can be paid: an address to open, or text to draw as a QR code. */
  readonly confirmation: { readonly kind: 'redirect' | 'qr'; readonly value: string } | null
  readonly payableUntil: Time | null
  /** Of canceled and failed orders. */
  readonly decline: { readonly reason: DeclineReason; readonly advice: DeclineAdvice } | null
  /** The fiscal receipt, sent to the owner's e-mail by the provider; null: none is made. */
  readonly receipt: { readonly state: 'pending' | 'succeeded' | 'canceled' } | null
  readonly createdAt: Time
  readonly creditedAt: Time | null
  /** Bought by us, at the owner's standing word. */
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

export type OrderWithRefunds = Order & { readonly refunds: readonly Refund[] }

export type Refundable = {
  readonly amountKopecks: Kopecks
  readonly credits: Credits
  /** Why nothing can be given back; null when something can. */
  readonly why: 'not_credited' | 'disputed' | 'policy' | 'spent' | null
}

export type Key = {
  readonly id: string
  readonly last4: string
  readonly createdAt: Time
}

export type KeyState = {
  /** `locked`: nothing was bought yet. `none`: one can be created. */
  readonly state: 'locked' | 'none' | 'active'
  readonly active: (Key & { readonly lastUsedAt: Time | null }) | null
  /** Made and not confirmed: it opens nothing. */
  readonly pending: Key | null
}

/** The plain value is in this answer and nowhere else. */
export type NewKey = Key & { readonly plain: string }

/**
 * Events of `GET /api/live`, each with JSON as its data. When it opens, home, key, requests and the
 * orders that wait for something come at once; from then on whatever changes.
 */
export type LiveEvents = {
  readonly home: Home
  readonly order: Order
  readonly key: KeyState
  readonly requests: Requests
  /** The last one. `session`: signed out or revoked. `server`: open it again. */
  readonly end: { readonly why: 'session' | 'server' }
}
