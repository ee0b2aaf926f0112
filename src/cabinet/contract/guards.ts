// The types of limits, e-mails about the balance, and automatic top-ups.
import type { Credits, Home, IntegerText, Kopecks, Time } from './contract.ts'

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

export type TopUp = {
  /** Whether the operator offers top-ups; otherwise the rest is null or off. */
  readonly isOffered: boolean
  /** The version of the consent text, which `POST /api/top-up` must send. */
  readonly consentVersion: string
  /** The card that the payment provider stores, by its last digits. */
  readonly method: { readonly title: string; readonly savedAt: Time } | null
  readonly isOn: boolean
  /** The settings that the owner agreed to last, also while it is off. */
  readonly settings: {
    readonly pack: string
    readonly priceKopecks: Kopecks
    /** Null in older agreements, which did not record the credits. */
    readonly credits: Credits | null
    readonly threshold: Credits
    readonly ceilingKopecks: Kopecks
    readonly agreedAt: Time
  } | null
  /** The sum of this month's top-ups; months are in UTC. */
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

/** As OwnerRoutes in routes.ts; requests send whole credits. */
export type GuardRoutes = {
  'GET /api/guards': { answer: Guards }
  /** Fresh when a limit becomes looser. In force with the next request. */
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
  /** Fresh. Records the agreement with its time and address, and the terms that were shown. */
  'POST /api/top-up': {
    body: {
      pack: string
      priceKopecks: Kopecks
      credits: IntegerText
      threshold: IntegerText
      ceilingKopecks: Kopecks
      consentVersion: string
    }
    answer: TopUp
  }
  'POST /api/top-up/off': { body: object; answer: TopUp }
  /** Deletes the stored card, and so ends top-ups. */
  'POST /api/top-up/forget': { body: object; answer: TopUp }
}
