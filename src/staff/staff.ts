// The entry file of staff: operators as people. They sign in with a password and a second factor,
// or with a passkey; each has one role; README.md has the rules. The terminal (`op`) and the
// console use the same people, sessions and permissions.
import type { Clock } from '../platform/clock.ts'
import type { Db } from '../platform/db/db.ts'
import type { Masked } from '../platform/masked.ts'
import { createPasswords } from '../platform/passwords/passwords.ts'
import { secretVersionsOf } from '../platform/secret-versions.ts'
import { type ApprovalSettings, createApprovals } from './approvals/approvals.ts'
import { createEncryption } from './encryption.ts'
import { createLimits, type LimitSettings } from './limits/limits.ts'
import { type Read, readInsert } from './limits/queries.ts'
import { createPeople } from './people.ts'
import { may, type Permission, type Role } from './permissions.ts'
import { operatorRefusal, signInRefusal } from './refusals.ts'
import { createFactors } from './sign-in/factors.ts'
import { createOidc, type OidcSettings } from './sign-in/oidc.ts'
import { createPasskeys } from './sign-in/passkeys.ts'
import {
  createSessions,
  requireWhole,
  type SignedIn,
  type StaffSession,
} from './sign-in/sessions.ts'
import { createSignIn } from './sign-in/sign-in.ts'
import { createThrottle } from './throttle.ts'
import { createTokens } from './tokens/tokens.ts'

export type { ApprovalNeed, Approved, AskedCommand } from './approvals/approvals.ts'
export type { ApprovalRow } from './approvals/queries.ts'
export type { DayAmount } from './limits/limits.ts'
export type { Permission, Role } from './permissions.ts'
export type { OperatorRow } from './queries.ts'
export type { ApprovalRefusalCode, OperatorRefusalCode, SignInRefusalCode } from './refusals.ts'
export type { Caller, SignedIn, StaffSession } from './sign-in/sessions.ts'
export type { TokenRow } from './tokens/queries.ts'

/** A year and a day: longer ones outlive the person who knows what they are for. */
export const TOKEN_DAYS_MAX = 366

export type StaffSettings = LimitSettings &
  ApprovalSettings &
  OidcSettings & {
    readonly secret: Masked<string>
    readonly consoleUrl: string
    readonly idleMinutes: number
    readonly sessionHours: number
    readonly passwordQueue: number
    readonly addressPerMinute: number
    readonly wrongPerOperator: number
    readonly wrongMinutes: number
  }

export type StaffOptions = {
  readonly db: Db
  readonly clock: Clock
  /** The product's name, which authenticator apps and passkeys show. */
  readonly name: string
  readonly settings: StaffSettings
}

export function createStaff({ db, clock, name, settings }: StaffOptions) {
  const encryption = createEncryption(secretVersionsOf(settings.secret))
  const passwords = createPasswords({ waitingMax: settings.passwordQueue })
  const throttle = createThrottle(db)
  const sessions = createSessions(db, settings)
  const signIn = createSignIn({ db, passwords, throttle, sessions, settings })
  const issuer = `${name} operators`
  const factors = createFactors({
    ...{ db, clock, issuer, encryption, throttle, sessions, settings },
  })
  const passkeys = createPasskeys({
    ...{ db, sessions, countAddress: signIn.countAddress },
    site: { origin: settings.consoleUrl, name: issuer },
  })

  return {
    /** People: find, list, count, create, disable, enable, changeRole, reset. */
    people: createPeople(db),

    /** The session misses its factor. Refuses: sign_in_throttled, sign_in_wrong. */
    signIn: signIn.signIn,
    /** Refuses: sign_in_throttled, invitation_wrong, operator_password_weak. */
    acceptInvitation: signIn.acceptInvitation,

    /**
     * The code of the app, or a recovery code. Returns a new token. Refuses:
     * operator_session_missing, sign_in_throttled, second_factor_wrong, second_factor_not_set_up.
     */
    proveFactor: async (token: string, code: string): Promise<SignedIn> =>
      factors.prove(await sessions.require(token), code),

    /** A new seed for an app. Refuses: operator_session_missing, second_factor_missing. */
    enrolTotp: async (token: string) => factors.enrol(await sessions.require(token)),
    /** Its first code; returns a new token and recovery codes. Refuses as proveFactor. */
    confirmTotp: async (token: string, code: string) =>
      factors.confirm(await sessions.require(token), code),

    /** Refuses: operator_session_missing, second_factor_missing. */
    beginPasskeyRegistration: async (token: string) =>
      passkeys.beginRegistration(await sessions.require(token)),
    /** Returns a new token. Refuses: also operator_passkey_wrong. */
    finishPasskeyRegistration: async (
      token: string,
      given: Parameters<typeof passkeys.finishRegistration>[1],
    ): Promise<SignedIn> => passkeys.finishRegistration(await sessions.require(token), given),
    /** Refuses: sign_in_throttled. */
    beginPasskeySignIn: passkeys.beginSignIn,
    /** Refuses: operator_passkey_wrong. */
    finishPasskeySignIn: passkeys.finishSignIn,
    /** New recovery codes. Refuses: second_factor_missing, second_factor_not_set_up. */
    renewRecoveryCodes: (session: StaffSession) => factors.renewRecoveryCodes(session),
    /** Refuses: second_factor_missing, sign_in_throttled, sign_in_wrong, operator_password_weak. */
    changePassword: (
      session: StaffSession,
      given: { readonly present: string; readonly next: string },
    ): Promise<void> => signIn.changePassword(requireWhole(session), given),
    /** One's own app and unused recovery codes. */
    readFactors: (session: StaffSession) => factors.read(requireWhole(session)),
    /** Signing in by the company's identity provider: name, begin, finish. */
    oidc: createOidc({ db, clock, sessions, settings, countAddress: signIn.countAddress }),
    /** Of a session that may act. */
    listPasskeys: (session: StaffSession) => passkeys.list(requireWhole(session)),
    /** Refuses: second_factor_missing when it is the last factor. */
    removePasskey: (session: StaffSession, id: string) =>
      passkeys.remove(requireWhole(session), id),

    /**
     * The session of a token, whatever it misses. The idle limit begins anew, unless `isUse` is
     * false: a page that refreshes itself is not a person.
     */
    findSession: sessions.find,
    /** Of one's own. */
    listSessions: (session: StaffSession) => sessions.list(requireWhole(session)),
    endOtherSessions: (session: StaffSession) => sessions.endOthers(requireWhole(session)),
    /** May be repeated. */
    signOut: (token: string): Promise<void> => sessions.end(token),

    /** Unattended tokens: create, find, list, revoke. */
    tokens: createTokens(db),
    /** What an operator may move on a day. */
    limits: createLimits(db, settings),
    /** What waits for a second person. */
    approvals: createApprovals(db, settings),
    /** One read of personal data, before it is shown. */
    recordRead: (read: Read): Promise<void> => readInsert(db, read),

    may,
    requireRole,
    /** Refuses: token_not_for_command. */
    refuseToken(by: string): never {
      throw operatorRefusal('token_not_for_command', `A person runs this command, not ${by}.`)
    },
    /** Refuses: second_factor_missing, permission_missing. */
    requirePermission(session: StaffSession, permission: Permission): StaffSession {
      requireRole(requireWhole(session).operator.role, permission)
      return session
    },
  }
}

export type Staff = ReturnType<typeof createStaff>

/** Refuses: permission_missing. */
function requireRole(role: Role, permission: Permission): void {
  if (may(role, permission)) return
  throw signInRefusal('permission_missing', `The role ${role} may not do this: ${permission}.`)
}
