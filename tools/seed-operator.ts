// The operator of a demo or development run: an admin with a password and an authenticator app,
// whose seed and recovery codes stay in a file, so that the next start can sign in again. Also
// signs `op` in: from the first operator on it needs a session.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../src/platform/clock.ts'
import type { Db } from '../src/platform/db/db.ts'
import { isRefusal } from '../src/platform/refusal.ts'
import { totpCode } from '../src/staff/sign-in/totp.ts'
import type { Staff } from '../src/staff/staff.ts'
import { OPERATOR } from './seed-sign-in.ts'

const STEP_MS = 30_000
const CALLER = { kind: 'terminal', address: '127.0.0.1', agent: 'seed' } as const

export type SeededOperator = { readonly seed: string; readonly recoveryCodes: readonly string[] }

/** Where the seed is, and the session of `op`. */
export function operatorFiles(state: string) {
  return { factor: join(state, 'dev-operator'), session: join(state, 'dev-op-session') }
}

/** Repeatable. Resets the operator if the file of the seed is gone. */
export async function seedOperator(
  modules: { readonly staff: Staff; readonly db: Db; readonly clock: Clock },
  state: string,
): Promise<void> {
  const files = operatorFiles(state)
  const isKnown = (await modules.staff.people.find(OPERATOR.email)) !== undefined
  const token =
    isKnown && existsSync(files.factor)
      ? await signIn(modules, JSON.parse(readFileSync(files.factor, 'utf8')) as SeededOperator)
      : await enrol(modules, isKnown, files.factor)
  writeFileSync(files.session, token, { mode: 0o600 })
}

async function enrol(
  { staff, db, clock }: Parameters<typeof seedOperator>[0],
  isKnown: boolean,
  file: string,
): Promise<string> {
  const { email, password, name } = OPERATOR
  const invitation = await db.transaction(async (tx) => {
    const found = isKnown ? await staff.people.requireOperator(email) : undefined
    if (found !== undefined) return staff.people.reset(tx, found.id, true)
    return staff.people.create(tx, { email, name, role: 'admin', by: 'seed', isFirst: true })
  })
  const begun = await staff.acceptInvitation({ ...CALLER, code: invitation.code, password })
  const { seed } = await staff.enrolTotp(begun.token)
  const code = totpCode(seed, clock.nowMs())
  const { token, recoveryCodes } = await staff.confirmTotp(begun.token, code)
  writeFileSync(file, JSON.stringify({ seed, recoveryCodes }), { mode: 0o600 })
  return token
}

async function signIn(
  { staff, clock }: Parameters<typeof seedOperator>[0],
  { seed }: SeededOperator,
): Promise<string> {
  const { token } = await staff.signIn({ ...CALLER, ...OPERATOR })
  try {
    return (await staff.proveFactor(token, totpCode(seed, clock.nowMs()))).token
  } catch (error) {
    // The code of this half minute was used by a start a moment ago; the next one is accepted too.
    if (!isRefusal(error, 'second_factor_wrong')) throw error
    return (await staff.proveFactor(token, totpCode(seed, clock.nowMs() + STEP_MS))).token
  }
}
