// What the flows of this room share: the settings, the parts that the door built, and the few
// agreements with other rooms that wiring makes for us.
import type { Clock } from '../platform/clock.ts'
import type { Db, Tx } from '../platform/db/db.ts'
import type { BookId } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import type { Masked } from '../platform/masked.ts'
import type { Letters } from './letters/letters.ts'
import type { Passwords } from './passwords/passwords.ts'
import type { Consent } from './queries.ts'
import type { Throttle } from './throttle.ts'

export const BASE_PATH = '/api/auth'
/** Ours alone: the handler drops what a client sends under this name and sets the true address. */
export const ADDRESS_HEADER = 'x-account-address'
/** A link out of a reset letter. Long enough for a slow mailbox, short enough for an open one. */
export const RESET_MINUTES = 60

/** The area `accounts` of the configuration; tollgate.example.yaml has the reasons. */
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
}

/** A required one must be agreed to by whoever registers; the others may be. */
export type LegalDocument = Consent & { readonly isRequired: boolean }

export type Parts = {
  readonly db: Db
  readonly clock: Clock
  readonly log: Log
  readonly settings: AccountsSettings
  readonly passwords: Passwords
  readonly throttle: Throttle
  readonly letters: Letters
  /** Opens the ledger's book of a new account, in its transaction. */
  openBook(tx: Tx): Promise<BookId>
  /** What a new owner is asked to agree to, in the versions that are in force. */
  documents(): readonly LegalDocument[]
}
