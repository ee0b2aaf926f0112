// The sign-in of the person who uses the console: factors, passkeys and sessions.
import type { Time } from './contract.ts'

export type OwnPasskey = {
  readonly id: string
  readonly name: string
  readonly createdAt: Time
  readonly usedAt: Time | null
}

export type OwnSession = {
  readonly id: string
  readonly kind: 'console' | 'terminal'
  readonly address: string
  readonly agent: string
  readonly createdAt: Time
  readonly seenAt: Time
  readonly isCurrent: boolean
}

export type OwnSignIn = {
  readonly passkeys: readonly OwnPasskey[]
  /** Most recently used first. */
  readonly sessions: readonly OwnSession[]
  readonly hasApp: boolean
  /** Unused ones; null: there is no app, or they cannot be read. */
  readonly recoveryCodes: number | null
  /** A factor was proven in the last ten minutes: others may be added. */
  readonly isFresh: boolean
}
