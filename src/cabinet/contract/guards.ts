// Limits, letters about the balance, and automatic top-ups, as types alone: part of the contract.
import type { Credits, Home, Kopecks, Time, Whole } from './contract.ts'

export type Guards = {
  /** Credits that one day may cost; null: any. */
  readonly dayLimit: Credits | null
  readonly daySpent: Credits
  /** When the day ends: days are counted in UTC. */
  readonly dayEndsAt: Time
  /** More than so many credits within so many minutes stops the key; null: nothing does. */
  readonly velocity: { readonly limit: Credits; readonly minutes: number } | null
  readonly blocked: Home['blocked']
  /** When a letter about a low balance is sent; null: not for this. */
  readonly lowCredits: Credits | null
  readonly lowDays: number | null
}

export type TopUp = {
  /** Whether the operator offers it; the rest is null or off where not. */
  readonly isOffered: boolean
  /** What `POST /api/top-up` must name as agreed to. */
  readonly consentVersion: string
  /** The card that the payment provider keeps, by its last digits. */
  readonly method: { readonly title: string; readonly savedAt: Time } | null
  readonly isOn: boolean
  /** What was agreed to last; also while it is off. */
  readonly settings: {
    readonly pack: string
    readonly priceKopecks: Kopecks
    /** Null in agreements of before they were asked for. */
    readonly credits: Credits | null
    readonly threshold: Credits
    readonly ceilingKopecks: Kopecks
    readonly agreedAt: Time
  } | null
  /** What top-ups came to this month, counted in UTC. */
  readonly monthKopecks: Kopecks
  /** Why it is off, when it was on. */
  readonly stopped: {
    readonly why:
      | 'owner'
      | 'declined'
      | 'pack_changed'
      | 'refunded'
      | 'disputed'
      | 'forgotten'
      | 'consent_incomplete'
    readonly at: Time
  } | null
}

/** As OwnerRoutes in routes.ts; amounts of credits are sent whole. */
export type GuardRoutes = {
  'GET /api/guards': { answer: Guards }
  /** Fresh when anything becomes looser. In force with the next request. */
  'POST /api/guards/limits': {
    body: { dayLimit: Whole | null; velocity: { limit: Whole; minutes: number } | null }
    answer: Guards
  }
  'POST /api/guards/letters': {
    body: { lowCredits: Whole | null; lowDays: number | null }
    answer: Guards
  }
  /** Requests are refused at once; the key stays as it is. */
  'POST /api/guards/suspend': { body: object; answer: Guards }
  /** Lifts the owner's own pause, or the stop for a jump in spending. */
  'POST /api/guards/resume': { body: object; answer: Guards }

  'GET /api/top-up': { answer: TopUp }
  /** Fresh. The agreement is recorded with its time and address, and the terms that were shown. */
  'POST /api/top-up': {
    body: {
      pack: string
      priceKopecks: Kopecks
      credits: Whole
      threshold: Whole
      ceilingKopecks: Kopecks
      consentVersion: string
    }
    answer: TopUp
  }
  'POST /api/top-up/off': { body: object; answer: TopUp }
  /** Forgets the card, and ends top-ups with it. */
  'POST /api/top-up/forget': { body: object; answer: TopUp }
}
