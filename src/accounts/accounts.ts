// Entry file of accounts: registration, sign-in, sessions, e-mails about the account, closing. Only
// this module uses better-auth. An account exists once its e-mail is confirmed, and owns one book
// of the ledger from then on. README.md lists the paths, the linked pages and the failures.
import type { Db, Executor, Tx } from '../platform/db/db.ts'
import type { AccountId, BookId } from '../platform/ids.ts'
import type { Mail } from '../platform/mail/mail.ts'
import { createPasswords } from '../platform/passwords/passwords.ts'
import { secretVersionsOf } from '../platform/secret-versions.ts'
import type { BlockedWork } from '../platform/worker/blocked-work.ts'
import type { Auth } from './auth/auth.ts'
import { createAuthHandler, isOwnOrigin } from './auth-handler.ts'
import type { AuthRouteTable } from './auth-route.ts'
import { createClosing } from './closing/closing.ts'
import type { ClosingHooks } from './closing/hooks.ts'
import { endingFind } from './closing/process-queries.ts'
import { cookiesOf, createCookies, SESSION_COOKIE } from './cookies.ts'
import type { AccountsSettings, Dependencies, LegalDocument } from './dependencies.ts'
import type { AccountEmail } from './emails/email-kinds.ts'
import { type Brand, createEmails } from './emails/emails.ts'
import { createErasure } from './erasure/erasure.ts'
import type { Action, Proof } from './levels.ts'
import * as queries from './queries.ts'
import { createRecovery } from './recovery/recovery.ts'
import { StepUpNeeded } from './refusals.ts'
import { createAccountCreation } from './registration/create-account.ts'
import { createEmailChange } from './registration/email-change.ts'
import { createAcceptance, createInvitations } from './registration/invitations.ts'
import { createLostMailbox } from './registration/lost-mailbox.ts'
import * as changeQueries from './registration/queries.ts'
import { createRegistration } from './registration/registration.ts'
import { createStopRecovery } from './registration/stop-recovery.ts'
import { accountSearch } from './search-queries.ts'
import { createSessions, requireProofs, requireSession, type Session } from './sessions.ts'
import { createFactors } from './sign-in/factors.ts'
import { createLostAuthenticator } from './sign-in/lost-authenticator.ts'
import { createPasswordChange, type PasswordChange } from './sign-in/password-change.ts'
import { createResetReview } from './sign-in/reset-review.ts'
import { createSignIn, type SignIn } from './sign-in/sign-in.ts'
import { createStepUp } from './sign-in/step-up.ts'
import { createCookieSignatures } from './succession/cookie-signatures.ts'
import { accountsSecretUses } from './succession/queries.ts'
import { createReencryption } from './succession/succession.ts'
import { createSummaryOwners } from './summaries/summaries.ts'
import { type Allowance, type AttemptCount, createThrottle } from './throttle.ts'

export type { AccountCode } from './answers.ts'
export type { Closing, ClosingStep, Ending } from './closing/process-queries.ts'
export type { Unspent } from './closing/queries.ts'
export type { EventContext } from './emails/email-kinds.ts'
export type { Addressed, Owner } from './erasure/erasure.ts'
export type { Language } from './queries.ts'
export type { IdentityStep } from './recovery/proof-queries.ts'
export type { ClosingRefusalCode, ErasureRefusalCode, SessionRefusalCode } from './refusals.ts'
export type { InvitationProblem } from './registration/invitations.ts'
export type { WaitingRegistration } from './registration/waiting-queries.ts'
export type { FoundAccount } from './search-queries.ts'
export type { SummaryOwner } from './summaries/queries.ts'
export type {
  AccountsSettings,
  Action,
  Allowance,
  Brand,
  ClosingHooks,
  LegalDocument,
  Proof,
  Session,
}

/** The e-mails that other modules may send to an owner. */
export type KeyEmail = Extract<AccountEmail, { readonly kind: `key-${string}` }>

export type AccountsOptions = Pick<
  Dependencies,
  'clock' | 'log' | 'settings' | 'openBook' | 'onConfirmed'
> & {
  /** The primary database: a replica could still show a revoked session. */
  readonly db: Db
  readonly mail: Pick<Mail, 'post'>
  readonly brand: Brand
  /** The legal documents in force; a registration must accept their current versions. */
  documents(): readonly LegalDocument[]
  readonly closingHooks: ClosingHooks
  readonly blockedWork?: BlockedWork
}

/** What a refusal `step_up_needed` asks the owner to prove; undefined for other errors. */
export const neededProofs = (error: unknown): readonly Proof[] | undefined =>
  error instanceof StepUpNeeded ? error.needs : undefined

/** Whether a Cookie header has a session, which may have ended. Reads no database. */
export const hasSessionCookie = (header: string): boolean => SESSION_COOKIE.test(header)

export function createAccounts(options: AccountsOptions) {
  const { db, brand, settings, clock, log } = options
  const versions = secretVersionsOf(settings.secret)
  const dependencies: Dependencies = {
    ...{ db, clock, log, settings, blockedWork: options.blockedWork },
    ...hooksOf(options),
    passwords: createPasswords({ waitingMax: settings.passwordQueue }),
    throttle: createThrottle({ db, versions }),
    emails: createEmails({ mail: options.mail, brand }),
  }
  const { passwords, throttle, emails } = dependencies
  const signIn = createSignIn(dependencies)
  const passwordChange = createPasswordChange(dependencies)
  // Loaded at the first use: loading takes a second and 50 MB, and a gateway never uses it.
  const auth = memoizeAsync(async (): Promise<Auth> => {
    const { createAuth } = await import('./auth/auth.ts')
    return createAuth({
      ...{ db, clock, log, brand, settings, passwords },
      sendReset: passwordChange.sendReset,
      async onReset(user, headers) {
        await passwordChange.onReset(user, headers)
        await signIn.clearFailedSignIns(user.email)
      },
    })
  })
  const signatures = createCookieSignatures(versions, cookiesOf(brand).cookiePrefix)
  const sessions = createSessions(dependencies, auth, signatures)
  const reencryption = createReencryption({ db, log, throttle, versions })
  const { origin } = new URL(brand.cabinetUrl)
  const handle = createAuthHandler({
    ...{ clock, log, settings, auth, sessions, throttle, origin },
    ...{ cookies: createCookies(brand), signatures },
    routes: authRoutes(dependencies, signIn, passwordChange),
  })

  return {
    /** Rejects when the tables are not what better-auth expects; the process must not start. */
    async check(): Promise<void> {
      const { explicitSchemaCheck } = await (await auth()).$context
      await explicitSchemaCheck?.()
    },

    /** Answers a request to /api/auth/*. `address` is the client's, as the HTTP server knows it. */
    handle,

    /** The session of these cookies. Reads the database, so a revoked session ends at once. */
    session: (headers: Headers): Promise<Session | undefined> => sessions.read(headers),
    requireSession,
    requireProofs,

    /** True when one of our own pages sent the request. For changes outside /api/auth. */
    isOwnOrigin: (headers: Headers): boolean => isOwnOrigin(headers, origin),

    /** Counts an owner's attempt over all processes, and says whether it is allowed. */
    attempt: ({ account }: Session, what: string, allowance: Allowance): Promise<AttemptCount> =>
      throttle.countAttempt(`${what} ${account}`, allowance),

    /** The owner's browsers that are signed in. Use the ids for `revokeSession` only. */
    sessions: sessions.list,
    revokeSession: sessions.revoke,
    revokeOtherSessions: sessions.revokeOthers,
    passkeys: ({ account }: Session) => queries.passkeyList(db, account),

    /** Ends the review after a password reset; see sign-in/reset-review.ts. */
    finishReview: createResetReview(dependencies).finish,

    /** The owner's change of address, while the old mailbox can still undo it. */
    emailChange: ({ account }: Session) => changeQueries.emailChangeFind(db, account),

    setLanguage: ({ account }: Session, language: queries.Language): Promise<void> =>
      queries.accountSetLanguage(db, account, language),

    /** The time zone of e-mails and statements. The caller has checked that the zone exists. */
    setZone: ({ account }: Session, zone: string): Promise<void> =>
      queries.accountSetZone(db, account, zone),

    /** Which documents the owner accepted, and when. */
    consents: ({ account }: Session) => queries.consentList(db, account),
    /** Records that the owner accepted a document. May be repeated: the first time is kept. */
    consent: (
      { account }: Session,
      p: { readonly document: string; readonly version: string; readonly address: string },
    ): Promise<void> => queries.consentInsert(db, { ...p, account, at: null }),

    /** For operators: the same, also of a closed account. */
    consentsOf: (account: AccountId) => queries.consentList(db, account),

    find: (id: AccountId) => queries.accountFind(db, id),
    findByEmail: (email: string) => queries.accountFindByEmail(db, email.trim().toLowerCase()),
    /** The owner of a book; undefined when it has none or the account is closed. */
    ownerOf: (book: BookId, executor: Executor = db) => queries.accountFindByBook(executor, book),
    /** How far the account of a book is on its way out; undefined when it stays. */
    endingOf: (book: BookId, executor: Executor = db) => endingFind(executor, book),

    /** For operators: finds accounts by id, book or a part of the address, closed ones too. */
    search: (text: string, limit: number) => accountSearch(db, { text, limit }),

    /** For operators: registrations that wait for their confirmation, and invitations. */
    registrations: createInvitations(dependencies),

    /** E-mails the owner of a book about a key, in the caller's transaction, if it has an owner. */
    async emailOwner(executor: Executor, book: BookId, email: KeyEmail): Promise<void> {
      const owner = await queries.accountFindByBook(executor, book)
      if (owner !== undefined) await emails.post(executor, owner, email)
    },

    /** `closings`, `copy`, `export` and `sweep`; `erase` and what belongs to it. */
    ...createEndings(dependencies, options.closingHooks),

    /** Who gets the e-mail about a month, and how it is switched off. */
    summaries: createSummaryOwners(db),

    /** What waits, for the owner's pages; for operators what they compare, begin and release. */
    recovery: createRecovery(dependencies),

    /** Encrypts with the current secret what another one encrypted. May be repeated. */
    reencrypt: reencryption.run,
    /** For operators: how many things each accounts secret made. */
    secretUses: () => accountsSecretUses(db),

    /** For metrics. */
    stats: () => ({ passwords: passwords.stats(), reencryption: reencryption.stats() }),
  }
}

function hooksOf({ openBook, documents, onConfirmed }: AccountsOptions) {
  return { openBook, documents, ...(onConfirmed && { onConfirmed }) }
}

function createEndings(dependencies: Dependencies, hooks: ClosingHooks) {
  return { ...createClosing(dependencies, hooks), ...createErasure(dependencies, hooks) }
}

/** All that is served below /api/auth. */
function authRoutes(
  dependencies: Dependencies,
  signIn: SignIn,
  passwordChange: PasswordChange,
): AuthRouteTable {
  const createAccount = createAccountCreation(dependencies)
  const registration = createRegistration(dependencies, signIn, createAccount)
  return {
    ...registration.routes,
    ...createAcceptance(dependencies, signIn, createAccount),
    ...signIn.routes,
    ...passwordChange.routes,
    ...createEmailChange(dependencies, registration, passwordChange).routes,
    ...createFactors(dependencies, passwordChange),
    ...createStepUp(dependencies, passwordChange, signIn),
    ...createLostAuthenticator(dependencies),
    ...createLostMailbox(dependencies),
    ...createStopRecovery(dependencies, passwordChange),
  }
}

function memoizeAsync<T>(make: () => Promise<T>): () => Promise<T> {
  const made: Promise<T>[] = []
  return () => {
    made[0] ??= make()
    return made[0]
  }
}

export type Accounts = ReturnType<typeof createAccounts>

/** What other modules ask about owners; they are built before the accounts. */
export function ownersOf(accounts: () => Accounts) {
  return {
    ownerOf: (book: BookId, tx?: Tx) => accounts().ownerOf(book, tx),
    endingOf: (book: BookId, executor?: Executor) => accounts().endingOf(book, executor),
  }
}
