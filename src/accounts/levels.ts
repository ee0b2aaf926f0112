// What an owner must have proven in a session, and how recently, before each action. The table is
// closed: a route names its action, and an action without a level does not compile. Actions that
// only protect the account (revoking, stricter limits, pauses) have no line: any session may.

/**
 * `password`: the password or a passkey. `second_factor`: the password and, if the account has a
 * second factor, its code; or a passkey, which replaces both.
 */
export type Level = 'signed_in' | 'password' | 'second_factor'

/** What an owner can be asked for. A recovery code counts as a code. */
export type Proof = 'password' | 'code'

export const levels = {
  /** Every key after the first: a thief could spend the balance with it. */
  'key.replace': 'second_factor',
  'password.change': 'second_factor',
  /** There is no second factor yet. */
  'factor.enable': 'password',
  'factor.disable': 'second_factor',
  'factor.recovery-codes': 'second_factor',
  'passkey.add': 'second_factor',
  'passkey.remove': 'second_factor',
  /** Changes only the label in the owner's own list. */
  'passkey.rename': 'signed_in',
  'email.change': 'second_factor',
  /** The request had the level; this needs the code from the new mailbox besides the session. */
  'email.confirm': 'signed_in',
  'reset.review': 'second_factor',
  'order.refund': 'second_factor',
  'account.close': 'second_factor',
  /** Reads and moves nothing; a thief without the second factor learns what the pages show. */
  'account.export': 'password',
  /** Lets us charge the card without the payer. */
  'top-up.agree': 'second_factor',
  /** A thief could silence the e-mail before a charge. */
  'top-up.notice': 'password',
  /** At most the balance can be spent, which the key's owner could do anyway. */
  'limits.loosen': 'password',
} as const satisfies Record<string, Level>

export type Action = keyof typeof levels

/** When each factor was last proven in a session; null or undefined: never. */
export type Proofs = {
  readonly passwordAt?: Date | null | undefined
  readonly codeAt?: Date | null | undefined
  readonly recoveryAt?: Date | null | undefined
  readonly passkeyAt?: Date | null | undefined
}

/**
 * How long a proof counts on a device that others use too. Two minutes are enough to finish the
 * form that asked for it, also with the browser's own passkey dialog, and too few for the next
 * person at the device.
 */
export const SHARED_MINUTES = 2

const MINUTE_MS = 60_000

export type Missing = Readonly<Record<Level, readonly Proof[]>>

/** What is missing for each level; nothing when the session has it. */
export function missingProofs(p: {
  readonly proofs: Proofs
  readonly isPrivate: boolean
  readonly hasSecondFactor: boolean
  readonly nowMs: number
  readonly freshMinutes: number
}): Missing {
  const { proofs, hasSecondFactor, nowMs } = p
  const minutes = p.isPrivate ? p.freshMinutes : Math.min(p.freshMinutes, SHARED_MINUTES)
  // A proof of the future was made before the clock was set back: it may be old.
  const isRecent = (at: Date | null | undefined) =>
    at instanceof Date && Math.abs(nowMs - at.getTime()) < minutes * MINUTE_MS
  if (isRecent(proofs.passkeyAt)) return { signed_in: [], password: [], second_factor: [] }
  const password: readonly Proof[] = isRecent(proofs.passwordAt) ? [] : ['password']
  const hasCode = !hasSecondFactor || isRecent(proofs.codeAt) || isRecent(proofs.recoveryAt)
  return {
    signed_in: [],
    password,
    second_factor: hasCode ? password : [...password, 'code'],
  }
}
