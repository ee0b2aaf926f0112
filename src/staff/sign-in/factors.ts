// The second factor of operators: an authenticator app with recovery codes. Seed and codes are
// encrypted with operators.secret; what a former secret made is encrypted anew at its next use.
import { timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../platform/clock.ts'
import type { Db, Tx } from '../../platform/db/db.ts'
import { randomReadableText } from '../../platform/ids.ts'
import type { Encryption } from '../encryption.ts'
import * as people from '../queries.ts'
import { signInRefusal } from '../refusals.ts'
import type { Throttle } from '../throttle.ts'
import * as queries from './queries.ts'
import type { Sessions, SignedIn, StaffSession } from './sessions.ts'
import type { AttemptSettings } from './sign-in.ts'
import { newSeed, seedUri, stepOf } from './totp.ts'

/** Ten codes of 49 bits: one a month for most of a year. */
const RECOVERY_CODES = 10

export function createFactors(p: {
  readonly db: Db
  readonly clock: Clock
  readonly issuer: string
  readonly encryption: Encryption
  readonly throttle: Throttle
  readonly sessions: Sessions
  readonly settings: AttemptSettings
}) {
  const { db, clock, encryption, throttle, sessions, settings } = p

  const countCode = (operator: string) =>
    throttle.count('code', operator, {
      ...{ max: settings.wrongPerOperator, seconds: settings.wrongMinutes * 60 },
    })

  /** The step of a right code that was not used before. Refuses: second_factor_wrong. */
  function requireStep(seed: string, code: string, last: bigint): bigint {
    const step = stepOf(seed, code.replaceAll(/\s/g, ''), clock.nowMs())
    if (step === undefined || step <= last) throw wrongCode()
    return step
  }

  function plainOf(text: string | null, operator: string): string {
    const plain = text === null ? undefined : encryption.decrypt(text, operator)
    if (plain !== undefined) return plain
    throw signInRefusal(
      'second_factor_not_set_up',
      'There is no readable authenticator app; ask an admin: op operators reset.',
    )
  }

  /** Refuses: second_factor_wrong, second_factor_not_set_up. */
  async function useCode(tx: Tx, operator: string, given: string): Promise<'code' | 'recovery'> {
    const row = await queries.factorLock(tx, operator)
    const seed = plainOf(row?.secret ?? null, operator)
    const codes = JSON.parse(plainOf(row?.recoveryCodes ?? null, operator)) as string[]
    const used = codes.find((one) => isSame(one, given))
    const step = used === undefined ? requireStep(seed, given, row?.lastStep ?? 0n) : row?.lastStep
    await queries.factorUse(tx, {
      operator,
      secret: encryption.encrypt(seed, operator),
      codes: encryption.encrypt(JSON.stringify(codes.filter((one) => one !== used)), operator),
      step: step ?? 0n,
    })
    return used === undefined ? 'code' : 'recovery'
  }

  return {
    /**
     * Proves the code of the app, or a recovery code, which is used once. Returns a new token.
     * Refuses: sign_in_throttled, second_factor_wrong, second_factor_not_set_up.
     */
    async prove(session: StaffSession, code: string): Promise<SignedIn> {
      const { id } = session.operator
      await countCode(id)
      const proven = await db.transaction(async (tx) =>
        sessions.prove(tx, session, await useCode(tx, id, code)),
      )
      await throttle.clear('code', id)
      return proven
    },

    /**
     * A new seed, which counts once its first code was proven. Refuses: second_factor_missing,
     * unless the session sets up the first factor.
     */
    async enrol(session: StaffSession): Promise<{ readonly seed: string; readonly uri: string }> {
      requireEnrolling(session)
      const { id, email } = session.operator
      const seed = newSeed()
      await queries.factorSetPending(db, id, encryption.encrypt(seed, id))
      return { seed, uri: seedUri({ seed, issuer: p.issuer, email }) }
    },

    /**
     * The first code of a new seed. Returns recovery codes, which are shown once. An invited
     * operator is active from here on; other sessions end when an app replaces another.
     * Refuses: second_factor_missing, sign_in_throttled, second_factor_wrong,
     * second_factor_not_set_up.
     */
    async confirm(
      session: StaffSession,
      code: string,
    ): Promise<SignedIn & { readonly recoveryCodes: readonly string[] }> {
      requireEnrolling(session)
      const { id } = session.operator
      await countCode(id)
      const recoveryCodes = newRecoveryCodes()
      const proven = await db.transaction(async (tx) => {
        const row = await queries.factorLock(tx, id)
        const seed = plainOf(row?.pendingSecret ?? null, id)
        await queries.factorConfirm(tx, {
          operator: id,
          secret: encryption.encrypt(seed, id),
          codes: encryption.encrypt(JSON.stringify(recoveryCodes), id),
          step: requireStep(seed, code, 0n),
        })
        await people.operatorActivate(tx, id)
        await queries.sessionDeleteAll(tx, id, session.id)
        return sessions.prove(tx, session, 'code')
      })
      await throttle.clear('code', id)
      return { ...proven, recoveryCodes }
    },

    /**
     * New recovery codes, shown once; the former ones end. Refuses: second_factor_missing,
     * second_factor_not_set_up.
     */
    async renewRecoveryCodes(session: StaffSession): Promise<readonly string[]> {
      requireEnrolling(session)
      const { id } = session.operator
      const recoveryCodes = newRecoveryCodes()
      await db.transaction(async (tx) => {
        const row = await queries.factorLock(tx, id)
        const seed = plainOf(row?.secret ?? null, id)
        await queries.factorUse(tx, {
          operator: id,
          secret: encryption.encrypt(seed, id),
          codes: encryption.encrypt(JSON.stringify(recoveryCodes), id),
          step: row?.lastStep ?? 0n,
        })
      })
      return recoveryCodes
    },

    /** Whether there is an app, and how many recovery codes are unused; null: unreadable. */
    async read({ operator: { id } }: StaffSession) {
      const row = await queries.factorFind(db, id)
      const hasApp = row?.secret != null
      const codes =
        row?.recoveryCodes == null ? undefined : encryption.decrypt(row.recoveryCodes, id)
      const left = codes === undefined ? null : (JSON.parse(codes) as string[]).length
      return { hasApp, recoveryCodes: left }
    },
  }
}

export type Factors = ReturnType<typeof createFactors>

/**
 * A session that sets up the first factor, or has just proven one: whoever finds a desk that was
 * left, or a cookie, must not add a factor of their own. Refuses: second_factor_missing.
 */
export function requireEnrolling({ missing, isFresh }: StaffSession): void {
  if (missing === 'enrolment' || (missing === null && isFresh)) return
  throw signInRefusal('second_factor_missing', 'Prove your second factor first.')
}

function newRecoveryCodes(): string[] {
  const half = () => randomReadableText(5)
  return Array.from({ length: RECOVERY_CODES }, () => `${half()}-${half()}`)
}

function isSame(code: string, given: string): boolean {
  const [one, two] = [Buffer.from(code), Buffer.from(given.trim().toLowerCase())]
  return one.length === two.length && timingSafeEqual(one, two)
}

function wrongCode() {
  return signInRefusal('second_factor_wrong', 'The code is wrong, or was used before.')
}
