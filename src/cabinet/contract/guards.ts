// The types of limits, e-mails about the balance, and automatic top-ups.
import type { Credits, Home, IntegerText, Kopecks, Order, Time } from './contract.ts'

export type Guards = {
  /** The most credits that one day may cost; null: no limit. */
  readonly dayLimit: Credits | null
  readonly daySpent: Credits
  /** When the day ends, in UTC. */
  readonly dayEndsAt: Time
  /** Spending more than `limit` within `minutes` stops the key; null: no such limit. */
  readonly velocity: { readonly limit: Credits; readonly minutes: number } | null
  readonly blocked: Home['blocked']
  /** The thresholds for an e-mail about a low balance, in credits and in days; null: none. */
  readonly lowCredits: Credits | null
  readonly lowDays: number | null
}

/** An owner's consent to automatic top-ups: given once, never changed, ended once. */
export type Mandate = {
  readonly id: IntegerText
  /** The card, by its last digits. */
  readonly card: string
  readonly pack: string
  readonly priceKopecks: Kopecks
  /** Null in older mandates, which did not record the credits. */
  readonly credits: Credits | null
  readonly threshold: Credits
  /** The most that top-ups may cost in a UTC day and in a calendar month. */
  readonly dayCeilingKopecks: Kopecks
  readonly monthCeilingKopecks: Kopecks
  readonly givenAt: Time
  /** Null while it lives. */
  readonly ended: { readonly why: MandateEnd; readonly at: Time } | null
}

export type MandateEnd =
  | 'owner'
  | 'declined'
  | 'pack_changed'
  | 'refunded'
  | 'disputed'
  | 'forgotten'
  | 'card_replaced'
  | 'closed'
  /** By the owner's next mandate. */
  | 'replaced'
  | 'consent_incomplete'

export type TopUp = {
  /** Whether the operator offers top-ups; otherwise the rest is null or off. */
  readonly isOffered: boolean
  /** The version of the consent text, which `POST /api/top-up` must send. */
  readonly consentVersion: string
  /** The card that the payment provider stores, by its last digits. */
  readonly method: { readonly title: string; readonly savedAt: Time } | null
  /** The newest mandate, also after its end. */
  readonly mandate: Mandate | null
  /** The sums of this day's and this month's top-ups, in UTC. */
  readonly dayKopecks: Kopecks
  readonly monthKopecks: Kopecks
  /** An e-mail before each charge, which then comes `noticeHours` later. */
  readonly hasAdvanceNotice: boolean
  readonly noticeHours: number
}

/** An order of an automatic top-up. */
export type TopUpCharge = {
  readonly order: string
  /** Null in orders from before mandates were recorded. */
  readonly mandate: IntegerText | null
  readonly state: Order['state']
  readonly priceKopecks: Kopecks
  readonly refundedKopecks: Kopecks
  readonly credits: Credits
  readonly createdAt: Time
  readonly creditedAt: Time | null
  /** When an announced charge will be made; null once it was sent or canceled. */
  readonly chargeAfter: Time | null
}

/** The newest hundred of each, newest first. */
export type TopUpHistory = {
  readonly mandates: readonly Mandate[]
  readonly charges: readonly TopUpCharge[]
}

/** As OwnerRoutes in routes.ts; requests send whole credits. */
export type GuardRoutes = {
  'GET /api/guards': { answer: Guards }
  /** `limits.loosen` when a limit becomes looser. In force with the next request. */
  'POST /api/guards/limits': {
    body: { dayLimit: IntegerText | null; velocity: { limit: IntegerText; minutes: number } | null }
    answer: Guards
  }
  'POST /api/guards/letters': {
    body: { lowCredits: IntegerText | null; lowDays: number | null }
    answer: Guards
  }
  /** Refuses the owner's API requests at once; the key does not change. */
  'POST /api/guards/suspend': { body: object; answer: Guards }
  /** Ends the owner's own pause, or the stop for a jump in spending. */
  'POST /api/guards/resume': { body: object; answer: Guards }

  'GET /api/top-up': { answer: TopUp }
  'GET /api/top-up/history': { answer: TopUpHistory }
  /** `top-up.agree`. Records a mandate with its time and address, and the terms that were shown. */
  'POST /api/top-up': {
    body: {
      pack: string
      priceKopecks: Kopecks
      credits: IntegerText
      threshold: IntegerText
      dayCeilingKopecks: Kopecks
      monthCeilingKopecks: Kopecks
      consentVersion: string
    }
    answer: TopUp
  }
  /** `top-up.notice`. */
  'POST /api/top-up/notice': { body: { hasAdvanceNotice: boolean }; answer: TopUp }
  'POST /api/top-up/off': { body: object; answer: TopUp }
  /** Deletes the stored card, and so ends top-ups. */
  'POST /api/top-up/forget': { body: object; answer: TopUp }
}
