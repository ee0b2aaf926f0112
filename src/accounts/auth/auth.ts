// The configuration of better-auth, which provides sessions, password checks, resets, second
// factors and passkeys on our tables. Each default that is too weak is changed here, with the
// reason. better-auth does not handle registration and change of address: see registration/.
import { passkey } from '@better-auth/passkey'
import { type BetterAuthOptions, betterAuth } from 'better-auth'
import { APIError } from 'better-auth/api'
import { twoFactor } from 'better-auth/plugins/two-factor'
import { type Clock, dateAt } from '../../platform/clock.ts'
import type { Db } from '../../platform/db/db.ts'
import { newAccountId, randomReadableText, randomText } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import {
  PASSWORD_LENGTH_MAX,
  PASSWORD_LENGTH_MIN,
  type Passwords,
} from '../../platform/passwords/passwords.ts'
import { oldestOf, secretVersionsOf } from '../../platform/secret-versions.ts'
import { cookiesOf } from '../cookies.ts'
import {
  type AccountsSettings,
  ADDRESS_HEADER,
  BASE_PATH,
  REGISTERED_PATH,
  RESET_MINUTES,
} from '../dependencies.ts'
import type { Brand } from '../emails/emails.ts'
import type { Proofs } from '../levels.ts'
import { createConnections } from './connection.ts'
import { registered, registeredShape } from './registered.ts'
import * as tables from './tables.ts'

const DAY_SECONDS = 86_400

export type AuthOptions = {
  readonly db: Db
  readonly clock: Clock
  readonly log: Log
  readonly brand: Brand
  readonly settings: AccountsSettings
  readonly passwords: Passwords
  /**
   * Only writes a row of the outbox: sending inside the request would reveal by its duration that
   * the account exists.
   */
  sendReset(user: { readonly id: string; readonly email: string }, code: string): Promise<void>
  onReset(user: { readonly id: string; readonly email: string }, headers: Headers): Promise<void>
}

/** All options; tables.test.ts also compares our tables with what better-auth expects by them. */
export function authOptions(options: AuthOptions) {
  const { brand, settings, passwords, log } = options
  const { origin, hostname } = new URL(brand.cabinetUrl)
  const versions = secretVersionsOf(settings.secret)
  return {
    appName: brand.name,
    baseURL: origin,
    basePath: BASE_PATH,
    trustedOrigins: [origin],
    // Set both: without `secrets` better-auth reads BETTER_AUTH_SECRETS from the environment and
    // prefers that to `secret`. The first encrypts and signs; all decrypt, by the id in the text.
    // better-auth verifies cookies with the first only: see succession/cookie-signatures.ts.
    // `secret` then only decrypts texts without an id.
    secret: oldestOf(versions).secret.reveal(),
    secrets: versions.map(({ id, secret }) => ({ version: id, value: secret.reveal() })),
    database: createConnections(options.db),
    telemetry: { enabled: false },
    logger: { level: 'warn', log: loggerOf(log) },
    // better-auth throws errors to auth-handler.ts; by default it would print them to the terminal.
    onAPIError: { throw: true },
    // better-auth counts by address only, computes a wrong Retry-After on PostgreSQL, and is off
    // outside production. throttle.ts counts for every path, by address and by account.
    rateLimit: { enabled: false },
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      requireEmailVerification: true,
      autoSignIn: false,
      minPasswordLength: PASSWORD_LENGTH_MIN,
      maxPasswordLength: PASSWORD_LENGTH_MAX,
      password: { hash: passwords.hash, verify: passwords.verify },
      resetPasswordTokenExpiresIn: RESET_MINUTES * 60,
      // People reset a password because somebody else may know it.
      revokeSessionsOnPasswordReset: true,
      sendResetPassword: ({ user, token: code }) => options.sendReset(user, code),
      onPasswordReset: ({ user }, request) =>
        options.onReset(user, request?.headers ?? new Headers()),
    },
    user: tables.accounts,
    session: {
      ...tables.sessions,
      expiresIn: settings.sessionDays * DAY_SECONDS,
      updateAge: DAY_SECONDS,
      // Off: it compares the age of a session only. levels.ts decides for its paths too.
      freshAge: 0,
      // A session cached in its cookie would still work after it was revoked.
      cookieCache: { enabled: false },
    },
    databaseHooks: {
      session: {
        create: { before: recordProofs(options.clock, versions[0].id) },
        // better-auth extends a session once a day and then sets its cookie anew.
        update: {
          before: async (session) => ({ data: { ...session, secretId: versions[0].id } }),
        },
      },
    },
    account: { ...tables.credentials, accountLinking: { enabled: false } },
    verification: {
      ...tables.accountCodes,
      storeIdentifier: 'hashed',
      disableCleanup: true, // a job deletes expired rows, not every read
    },
    plugins: [secondFactor(brand), passkeys(brand, { origin, hostname }), registered()],
    advanced: {
      ...cookiesOf(brand),
      database: { generateId: ({ model }: { model: string }) => newId(model) },
      // Stores the whole IP address for the owner's list of sessions; auth-handler.ts itself counts
      // attempts by /64 network.
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER], ipv6Subnet: 128 },
      // Explicit, because better-auth skips both checks when NODE_ENV is "test".
      disableCSRFCheck: false,
      disableOriginCheck: false,
    },
  } satisfies BetterAuthOptions
}

export function createAuth(options: AuthOptions) {
  return betterAuth(authOptions(options))
}

export type Auth = ReturnType<typeof createAuth>

type SessionHooks = NonNullable<NonNullable<BetterAuthOptions['databaseHooks']>['session']>
type BeforeSession = NonNullable<NonNullable<SessionHooks['create']>['before']>

/**
 * What a request to one of better-auth's paths has proven when it adds a session. The password of a
 * sign-in with a code was proven at most ten minutes before: better-auth forgets it then.
 */
const provenBy: Readonly<Record<string, readonly (keyof Proofs)[]>> = {
  '/sign-in/email': ['passwordAt'],
  '/two-factor/verify-totp': ['passwordAt', 'codeAt'],
  '/two-factor/verify-backup-code': ['passwordAt', 'recoveryAt'],
  '/passkey/verify-authentication': ['passkeyAt'],
}

/**
 * better-auth also replaces the session when the password is changed and when the second factor is
 * switched on or off. The new session keeps what the old one had proven, and when its owner signed
 * in, and adds what this request proved: otherwise an old cookie and the password would be enough
 * to switch the second factor off. During a sign-in better-auth has read no session.
 */
const provenByReplacing: Readonly<Record<string, readonly (keyof Proofs)[]>> = {
  '/change-password': ['passwordAt'],
  '/two-factor/disable': ['passwordAt'],
  '/two-factor/verify-totp': ['codeAt'],
}

/** `secretId`: of the secret that signs the session's cookie. */
function recordProofs(clock: Clock, secretId: number): BeforeSession {
  return async (session, request) => {
    const now = dateAt(clock.nowMs())
    const path = request?.path ?? ''
    const current = request?.context.session?.session as StoredSession | undefined
    if (current !== undefined) {
      const { createdAt, isPrivate, passwordAt, codeAt, recoveryAt, passkeyAt } = current
      const kept = { createdAt, isPrivate, passwordAt, codeAt, recoveryAt, passkeyAt }
      return { data: { ...session, ...kept, secretId, ...at(now, provenByReplacing[path] ?? []) } }
    }
    const isShared =
      path === '/sign-in/email'
        ? request?.body?.rememberMe === false
        : await hasSharedDeviceCookie(request)
    const added = { isPrivate: !isShared, secretId }
    if (path === REGISTERED_PATH) {
      const { passwordAt } = registeredShape.parse(request?.body)
      return { data: { ...session, ...added, passwordAt: dateAt(Date.parse(passwordAt)) } }
    }
    return { data: { ...session, ...added, ...at(now, provenBy[path] ?? []) } }
  }
}

type StoredSession = Proofs & { readonly createdAt: Date; readonly isPrivate: boolean }

function at(now: Date, proofs: readonly (keyof Proofs)[]): Partial<Record<keyof Proofs, Date>> {
  return Object.fromEntries(proofs.map((proof) => [proof, now]))
}

/** better-auth sets it when the owner did not tick "Keep me signed in". */
async function hasSharedDeviceCookie(request: Parameters<BeforeSession>[1]): Promise<boolean> {
  if (request === null) return false
  const { authCookies, secret } = request.context
  const cookie = await request.getSignedCookie(authCookies.dontRememberToken.name, secret)
  return typeof cookie === 'string'
}

/** Ten codes of 49 bits; better-auth's own mix I, l and 1, O and 0. Those remain valid. */
function recoveryCodes(): string[] {
  return Array.from({ length: 10 }, () => `${randomReadableText(5)}-${randomReadableText(5)}`)
}

function secondFactor(brand: Brand) {
  return twoFactor({
    issuer: brand.name,
    totpOptions: { digits: 6, period: 30 },
    backupCodeOptions: { customBackupCodesGenerate: recoveryCodes, storeBackupCodes: 'encrypted' },
    accountLockout: { enabled: true, maxFailedAttempts: 10, durationSeconds: 15 * 60 },
    schema: tables.secondFactors,
  })
}

/**
 * better-auth accepts a passkey that has not verified its owner by fingerprint or PIN. A passkey
 * replaces both password and second factor, so that would be one factor: the finder of a hardware
 * key could sign in.
 */
function passkeys(brand: Brand, site: { readonly origin: string; readonly hostname: string }) {
  const requireOwner = (isVerified: boolean | undefined) => {
    if (isVerified) return
    throw new APIError('BAD_REQUEST', {
      code: 'PASSKEY_WITHOUT_ITS_OWNER',
      message: 'Not verified',
    })
  }
  return passkey({
    rpID: site.hostname,
    rpName: brand.name,
    origin: site.origin,
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    registration: {
      afterVerification: ({ verification }) =>
        requireOwner(verification.registrationInfo?.userVerified),
    },
    authentication: {
      afterVerification: ({ verification }) =>
        requireOwner(verification.authenticationInfo.userVerified),
    },
    schema: tables.passkeys,
    advanced: { webAuthnChallengeCookie: 'passkey' },
  })
}

function newId(model: string): string {
  return model === 'user' ? newAccountId() : `${PREFIXES[model] ?? 'auth'}_${randomText(12)}`
}

const PREFIXES: Readonly<Record<string, string>> = {
  session: 'ses',
  account: 'cred',
  verification: 'code',
  twoFactor: 'totp',
  passkey: 'pk',
}

/** better-auth warns about wrong passwords and the like, which we answer and count ourselves. */
function loggerOf(log: Log) {
  return (level: string, message: string) => {
    const fields = { from: 'better-auth' }
    if (level === 'error') log.error(fields, message)
    else log.debug(fields, message)
  }
}
