// What an owner is told about the balance and its limits, and the facts each letter needs. The
// sentences are in words-ru.ts and words-en.ts; a kind without sentences in both does not compile.
import type { Sentences } from '../platform/mail/letter.ts'
import type { Credits } from '../units/credits.ts'
import type { Limits, Velocity } from './limits.ts'

export type Language = 'ru' | 'en'

export type Facts = {
  'low-balance': { readonly balance: Credits; readonly daysLeft: number | null }
  'balance-empty': { readonly balance: Credits }
  'day-limit-reached': { readonly dayLimit: Credits; readonly nextDayMs: number }
  'velocity-stopped': Velocity
  'limits-loosened': Limits & { readonly atMs: number; readonly address: string }
}

export type Kind = keyof Facts
export type Notice = { readonly [K in Kind]: { readonly kind: K; readonly facts: Facts[K] } }[Kind]

/** What the sentences may need besides their facts. */
export type Setting = {
  readonly brand: string
  page(name: 'limits' | 'packs' | 'key' | 'security'): string
  time(atMs: number): string
}

export type Words = {
  readonly locale: string
  signature(brand: string, support: string): string
  readonly letters: { readonly [K in Kind]: (facts: Facts[K], setting: Setting) => Sentences }
}
