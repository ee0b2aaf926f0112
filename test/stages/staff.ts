// A stage for operators as people: a real database, the module connected as the operator's role,
// and a clock that a test turns. Each operator has an authenticator app.
import { type Clock, systemClock } from '../../src/platform/clock.ts'
import { type Db, openDatabase } from '../../src/platform/db/db.ts'
import { Masked } from '../../src/platform/masked.ts'
import { totpCode } from '../../src/staff/sign-in/totp.ts'
import {
  type Caller,
  createStaff,
  type Role,
  type Staff,
  type StaffSettings,
} from '../../src/staff/staff.ts'
import { urlAs } from '../../tools/program-roles.ts'
import { createTestDatabase, settingsOf } from '../support/harness.ts'

export const CONSOLE = 'http://127.0.0.1:8083'

export const staffSettings: StaffSettings = {
  secret: new Masked('first'),
  consoleUrl: CONSOLE,
  idleMinutes: 30,
  sessionHours: 12,
  passwordQueue: 64,
  addressPerMinute: 20,
  wrongPerOperator: 10,
  wrongMinutes: 15,
  oidcIssuer: 'none',
  oidcClientId: 'none',
  oidcClientSecret: new Masked('none'),
  oidcName: 'SSO',
  oidcAllowedClaim: 'none',
  oidcSecondFactor: 'own',
  supportCreditsPerDay: 20_000_000,
  supportRoublesPerDay: 5_000,
  financeCreditsPerDay: 1_000_000_000,
  financeRoublesPerDay: 500_000,
  adminCreditsPerDay: 1_000_000_000,
  adminRoublesPerDay: 500_000,
  approveGrantsAbove: 0,
  approveAdjustmentsAbove: 0,
  approveRefundsAbove: 0,
  approveReviewsAbove: 0,
  approvePromosAbove: 0,
  approveCatalogue: false,
  approveUpstreams: false,
  approvalHours: 24,
}

/** What a person types to sign in. */
type Phone = { readonly email: string; readonly password: string; code(): string }

export type StaffStage = Awaited<ReturnType<typeof createStaffStage>>
export type TestOperator = Awaited<ReturnType<ReturnType<typeof createPeople>['operator']>>

export async function createStaffStage() {
  const database = await createTestDatabase()
  const url = urlAs(database.url, 'tollgate_operator')
  const db = openDatabase(settingsOf(url), 'test staff', () => undefined)
  const turned = { ms: 0 }
  const clock = {
    ...systemClock,
    nowMs: () => systemClock.nowMs() + turned.ms,
    turn(ms: number) {
      turned.ms += ms
    },
  }
  const open = (changes: Partial<StaffSettings> = {}) =>
    createStaff({ db, clock, name: 'Gate', settings: { ...staffSettings, ...changes } })
  const staff = open()
  const people = createPeople(staff, database.db, clock)

  return {
    ...{ db: database.db, staff, clock, ...people },

    withSettings: open,
    withSecret: (secret: string) => open({ secret: new Masked(secret) }),

    async end() {
      await db.end()
      await database.drop()
    },
  }
}

/** Invites operators and sets up their authenticator apps, as they would themselves. */
export function createPeople(staff: Staff, db: Db, clock: Clock) {
  const state = { addresses: 0 }
  /** Each sign-in comes from an address of its own, so that only what a test counts is counted. */
  const caller: Caller = {
    kind: 'console',
    agent: 'test',
    get address() {
      state.addresses += 1
      return `10.0.${state.addresses >> 8}.${state.addresses & 255}`
    },
  }

  function invite(name: string, role: Role) {
    return db.transaction((tx) =>
      staff.people.create(tx, {
        ...{ email: `${name}@gate.example`, name, role, by: 'test', isFirst: false },
      }),
    )
  }

  async function enrol(token: string) {
    const { seed } = await staff.enrolTotp(token)
    const proven = await staff.confirmTotp(token, totpCode(seed, clock.nowMs()))
    return { ...proven, seed }
  }

  /** An active operator, whose first code was used by setting up the app. */
  async function operator(name: string, role: Role) {
    const { operator: row, code: invitation } = await invite(name, role)
    const password = `a sentence of ${name} 1`
    const begun = await staff.acceptInvitation({ ...caller, code: invitation, password })
    const { seed, recoveryCodes, token } = await enrol(begun.token)
    await staff.signOut(token)
    return {
      ...{ id: row.id, email: row.email, password, seed, recoveryCodes, invitation },
      /** The code of the next half minute, which is accepted already. */
      code: () => totpCode(seed, clock.nowMs() + 30_000),
      codeNow: () => totpCode(seed, clock.nowMs()),
    }
  }

  return {
    ...{ caller, invite, enrol, operator },

    /** The code of an app, now or a while ahead. */
    codeOf: (seed: string, aheadMs = 0) => totpCode(seed, clock.nowMs() + aheadMs),

    /** A whole session. A second one needs the clock turned: a code works once. */
    async signIn(person: Phone) {
      const { token } = await staff.signIn({ ...person, ...caller })
      return staff.proveFactor(token, person.code())
    },

    /** The whole session in which an operator sets up the app; its next code is not used yet. */
    async newcomer(name: string, role: Role) {
      const { operator: row, code } = await invite(name, role)
      const password = `a sentence of ${name} 1`
      const begun = await staff.acceptInvitation({ ...caller, code, password })
      const { token, seed } = await enrol(begun.token)
      const codeLater = () => totpCode(seed, clock.nowMs() + 30_000)
      return { id: row.id, email: row.email, password, token, code: codeLater }
    },
  }
}
