// What accounts.ts passes to every flow: the settings, the objects it built, and the few functions
// of other modules that src/wiring.ts provides.
import type { Clock } from '../platform/clock.ts'
import type { Db, Tx } from '../platform/db/db.ts'
import type { BookId } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import type { Masked } from '../platform/masked.ts'
import type { Passwords } from '../platform/passwords/passwords.ts'
import type { BlockedWork } from '../platform/worker/blocked-work.ts'
import type { Emails } from './emails/emails.ts'
import type { Consent } from './queries.ts'
import type { Throttle } from './throttle.ts'

export const BASE_PATH = '/api/auth'
/** Of our own endpoint inside better-auth: see auth/registered.ts. */
export const REGISTERED_PATH = '/sign-in/registered'
/** The client's IP address for better-auth; auth-handler.ts drops a header that a client sent. */
export const ADDRESS_HEADER = 'x-account-address'
/** How long a reset link works: enough for slow mail, short for a mailbox that others can read. */
export const RESET_MINUTES = 60

/** The section `accounts` of the configuration; tollgate.example.yaml has the reasons. */
export type AccountsSettings = {
  readonly secret: Masked<string>
  readonly sessionDays: number
  readonly freshMinutes: number
  readonly answerMs: number
  readonly passwordQueue: number
  readonly addressPerMinute: number
  readonly wrongPerAccount: number
  readonly wrongMinutes: number
  readonly lettersPerHour: number
  readonly eraseAfterDays: number
  readonly recoveryHours: number
}

/** A registration must accept the required documents and may accept the others. */
export type LegalDocument = Consent & { readonly isRequired: boolean }

export type Dependencies = {
  readonly db: Db
  readonly clock: Clock
  readonly log: Log
  readonly settings: AccountsSettings
  /** Where a worker keeps what its loops are doing; absent elsewhere. */
  readonly blockedWork: BlockedWork | undefined
  readonly passwords: Passwords
  readonly throttle: Throttle
  readonly emails: Emails
  /** Opens the ledger's book of a new account, in the transaction that adds the account. */
  openBook(tx: Tx): Promise<BookId>
  /**
   * Called when an account was made, as the last statement of its transaction. `address` is that of
   * the browser that confirmed.
   */
  onConfirmed?(
    tx: Tx,
    owner: { readonly book: BookId; readonly email: string; readonly address: string },
  ): Promise<void>
  /** The documents that a new owner is asked to accept, in the versions in force. */
  documents(): readonly LegalDocument[]
}
