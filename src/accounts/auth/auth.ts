// better-auth, as we use it: an engine for sessions, password checks, resets, second factors and
// passkeys on tables of ours. What it leaves open by default is closed here, each with its reason.
// Registration and change of address are not its: see registration/.
import { passkey } from '@better-auth/passkey'
import { type BetterAuthOptions, betterAuth } from 'better-auth'
import { APIError } from 'better-auth/api'
import { twoFactor } from 'better-auth/plugins/two-factor'
import type { Db } from '../../platform/db/db.ts'
import { newAccountId, randomText } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import { cookiesOf } from '../cookies.ts'
import type { Brand } from '../letters/letters.ts'
import { type AccountsSettings, ADDRESS_HEADER, BASE_PATH, RESET_MINUTES } from '../parts.ts'
import { PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN, type Passwords } from '../passwords/passwords.ts'
import { createConnections } from './connection.ts'
import * as tables from './tables.ts'

const DAY_SECONDS = 86_400

export type AuthOptions = {
  readonly db: Db
  readonly log: Log
  readonly brand: Brand
  readonly settings: AccountsSettings
  readonly passwords: Passwords
  /** Only writes a row of the outbox; a letter sent inside the request would tell by its time. */
  sendReset(user: { readonly id: string; readonly email: string }, code: string): Promise<void>
  onReset(user: { readonly id: string; readonly email: string }, headers: Headers): Promise<void>
}

/** All options, also for the test that compares the tables with what better-auth expects. */
export function authOptions(options: AuthOptions) {
  const { brand, settings, passwords, log } = options
  const { origin, hostname } = new URL(brand.cabinetUrl)
  const secret = settings.secret.reveal()
  return {
    appName: brand.name,
    baseURL: origin,
    basePath: BASE_PATH,
    trustedOrigins: [origin],
    // Both, because the list would otherwise be looked for in the environment and win over ours.
    secret,
    secrets: [{ version: 1, value: secret }],
    database: createConnections(options.db),
    telemetry: { enabled: false },
    logger: { level: 'warn', log: loggerOf(log) },
    // A fault comes out of the handler as it is; better-auth would print it to the terminal.
    onAPIError: { throw: true },
    // By address only, wrong in its Retry-After on PostgreSQL, and off outside production: ours
    // (throttle.ts) counts for every path, by address and by account.
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
      // Whoever resets a password does so because somebody else may know it.
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
      freshAge: settings.freshMinutes * 60,
      // A cached session would live on in its cookie after it was revoked.
      cookieCache: { enabled: false },
    },
    databaseHooks: { session: { create: { before: keepSignInTime } } },
    account: { ...tables.credentials, accountLinking: { enabled: false } },
    verification: {
      ...tables.accountCodes,
      storeIdentifier: 'hashed',
      disableCleanup: true, // a job does it, and not every reader
    },
    plugins: [secondFactor(brand), passkeys(brand, { origin, hostname })],
    advanced: {
      ...cookiesOf(brand),
      database: { generateId: ({ model }: { model: string }) => newId(model) },
      // The whole address, for the owner's list; the handler puts networks together by itself.
      ipAddress: { ipAddressHeaders: [ADDRESS_HEADER], ipv6Subnet: 128 },
      // Said aloud, because better-auth skips both when NODE_ENV is "test".
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
 * better-auth replaces the session when the password is changed and when the second factor is
 * switched on or off, and dates the new one from that moment. Such a request proves the password at
 * most, while a session's time says when somebody signed in, second factor included: an old cookie
 * and the password would be enough to switch the second factor off. So a session that is made
 * within a session keeps the time of its sign-in. In a sign-in better-auth has read no session.
 */
const keepSignInTime: BeforeSession = async (session, request) => {
  const current = request?.context.session?.session
  return { data: { ...session, createdAt: current?.createdAt ?? session.createdAt } }
}

function secondFactor(brand: Brand) {
  return twoFactor({
    issuer: brand.name,
    totpOptions: { digits: 6, period: 30 },
    backupCodeOptions: { amount: 10, storeBackupCodes: 'encrypted' },
    accountLockout: { enabled: true, maxFailedAttempts: 10, durationSeconds: 15 * 60 },
    schema: tables.secondFactors,
  })
}

/**
 * better-auth takes a passkey without asking whether its owner was verified (a fingerprint, a PIN).
 * Since a passkey replaces password and second factor at once, that would be one factor: a found
 * hardware key would open the account.
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

/** Its warnings are wrong passwords and the like, which we answer and count ourselves. */
function loggerOf(log: Log) {
  return (level: string, message: string) => {
    const fields = { from: 'better-auth' }
    if (level === 'error') log.error(fields, message)
    else log.debug(fields, message)
  }
}
