// The door of accounts: people, how they prove who they are, and what they are told. better-auth is
// inside and nowhere else. An account exists once its e-mail is confirmed, and owns one book of the
// ledger from then on. README.md has the paths, the pages that letters link to, and the failures.
import type { Db, Executor } from '../platform/db/db.ts'
import type { AccountId, BookId } from '../platform/ids.ts'
import type { Mail } from '../platform/mail/mail.ts'
import type { Auth } from './auth/auth.ts'
import { createClosing, type Endings } from './closing/closing.ts'
import { createCookies } from './cookies.ts'
import { createHandler, isOwnOrigin } from './handler.ts'
import { type Brand, createLetters } from './letters/letters.ts'
import type { Notice } from './letters/notice.ts'
import type { AccountsSettings, LegalDocument, Parts } from './parts.ts'
import { createPasswords } from './passwords/passwords.ts'
import * as queries from './queries.ts'
import { createEmailChange } from './registration/email-change.ts'
import { createRegistration } from './registration/registration.ts'
import { accountSearch } from './search-queries.ts'
import { createSessions, requireFresh, requireSession, type Session } from './sessions.ts'
import { createFactors } from './sign-in/factors.ts'
import { createPasswordChange } from './sign-in/password-change.ts'
import { createSignIn } from './sign-in/sign-in.ts'
import { type Allowance, type Count, createThrottle } from './throttle.ts'

export type { AccountCode } from './answers.ts'
export type { Unspent } from './closing/queries.ts'
export type { Circumstances } from './letters/notice.ts'
export type { Language } from './queries.ts'
export type { FoundAccount } from './search-queries.ts'
export type { AccountsSettings, Allowance, Brand, Endings, LegalDocument, Session }

/** What other rooms may have told to an owner; the rest is this room's own. */
export type KeyNotice = Extract<Notice, { readonly kind: `key-${string}` }>

export type AccountsOptions = Pick<Parts, 'clock' | 'log' | 'settings' | 'openBook'> & {
  /** The primary: a replica could still show a revoked session. */
  readonly db: Db
  readonly mail: Pick<Mail, 'post'>
  readonly brand: Brand
  /** The legal pages in force; a new version is asked for at the next registration. */
  documents(): readonly LegalDocument[]
  readonly endings: Endings
}

export function createAccounts(options: AccountsOptions) {
  const { db, brand, settings, clock, log } = options
  const parts: Parts = {
    ...{ db, clock, log, settings },
    openBook: options.openBook,
    documents: options.documents,
    passwords: createPasswords({ waitingMax: settings.passwordQueue }),
    throttle: createThrottle({ db, secret: settings.secret }),
    letters: createLetters({ mail: options.mail, brand }),
  }
  const { passwords, throttle, letters } = parts
  const signIn = createSignIn(parts)
  const passwordChange = createPasswordChange(parts)
  // Loaded when first asked for: it takes a second and 50 MB, and a gateway never asks.
  const auth = lazily(async (): Promise<Auth> => {
    const { createAuth } = await import('./auth/auth.ts')
    return createAuth({
      ...{ db, log, brand, settings, passwords },
      sendReset: passwordChange.sendReset,
      async onReset(user, headers) {
        await passwordChange.onReset(user, headers)
        await signIn.forget(user.email)
      },
    })
  })
  const sessions = createSessions(parts, auth)
  const registration = createRegistration(parts, signIn)
  const closing = createClosing(parts, options.endings)
  const { origin } = new URL(brand.cabinetUrl)
  const handle = createHandler({
    ...{ clock, log, settings, auth, sessions, throttle, origin },
    cookies: createCookies(brand),
    routes: {
      ...registration.routes,
      ...signIn.routes,
      ...passwordChange.routes,
      ...createEmailChange(parts, registration).routes,
      ...createFactors(parts, passwordChange),
    },
  })

  return {
    /** Rejects when the tables are not what better-auth expects: a reason not to start. */
    async check(): Promise<void> {
      const { explicitSchemaCheck } = await (await auth()).$context
      await explicitSchemaCheck?.()
    },

    /** Answers a request to /api/auth/*. `address` is the client's, as the outer door knows it. */
    handle,

    /** Whose cookies these are. Asks the database, so a revoked session ends at once. */
    session: (headers: Headers): Promise<Session | undefined> => sessions.read(headers),
    requireSession,
    requireFresh,

    /** For what changes something outside /api/auth: true when our own pages ask. */
    isOwnOrigin: (headers: Headers): boolean => isOwnOrigin(headers, origin),

    /** Counts an owner's attempt at something, over all processes; says whether it may go on. */
    attempt: ({ account }: Session, what: string, allowance: Allowance): Promise<Count> =>
      throttle.take(`${what} ${account}`, allowance),

    /** The owner's browsers that are signed in; the ids are good for `revokeSession` only. */
    sessions: sessions.list,
    revokeSession: sessions.revoke,
    revokeOtherSessions: sessions.revokeOthers,
    passkeys: ({ account }: Session) => queries.passkeyList(db, account),

    setLanguage: ({ account }: Session, language: queries.Language): Promise<void> =>
      queries.accountSetLanguage(db, account, language),

    /** Whose time letters and statements are in. The caller has seen that there is such a zone. */
    setZone: ({ account }: Session, zone: string): Promise<void> =>
      queries.accountSetZone(db, account, zone),

    /** What the owner agreed to, and when. */
    consents: ({ account }: Session) => queries.consentList(db, account),
    /** Notes an agreement. May be repeated: the first time counts. */
    consent: (
      { account }: Session,
      p: { readonly document: string; readonly version: string; readonly address: string },
    ): Promise<void> => queries.consentInsert(db, { ...p, account, at: null }),

    find: (id: AccountId) => queries.accountFind(db, id),
    findByEmail: (email: string) => queries.accountFindByEmail(db, email.trim().toLowerCase()),
    /** Whose book it is; undefined for a book without an owner, or with a closed account. */
    ownerOf: (book: BookId, executor: Executor = db) => queries.accountFindByBook(executor, book),

    /** For operators: by id, book or a part of the address, closed accounts too. */
    search: (text: string, limit: number) => accountSearch(db, { text, limit }),

    /** Tells the owner of a book about a key, in the caller's transaction; nobody's: nothing. */
    async tell(executor: Executor, book: BookId, notice: KeyNotice): Promise<void> {
      const owner = await queries.accountFindByBook(executor, book)
      if (owner !== undefined) await letters.post(executor, owner, notice)
    },

    close: closing.close,
    copy: closing.copy,
    sweep: closing.sweep,
    erase: closing.erase,

    /** For metrics. */
    stats: () => ({ passwords: passwords.stats() }),
  }
}

function lazily<T>(make: () => Promise<T>): () => Promise<T> {
  const made: Promise<T>[] = []
  return () => {
    made[0] ??= make()
    return made[0]
  }
}

export type Accounts = ReturnType<typeof createAccounts>
