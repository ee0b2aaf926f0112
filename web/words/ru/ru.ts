// Everything the pages say in Russian, by place. Other languages have the same keys, by type. A key
// that ends in _one, _few, _many or _other is a form of one sentence: t(key, { count }).
import { account } from './account.ts'
import { buying } from './buying.ts'
import { docs } from './docs.ts'
import { errors } from './errors.ts'
import { frame } from './frame.ts'
import { front } from './front.ts'
import { home } from './home.ts'
import { key } from './key.ts'
import { limits } from './limits.ts'
import { pricing } from './pricing.ts'
import { recovery } from './recovery.ts'
import { sessions } from './sessions.ts'
import { settings } from './settings.ts'
import { topUp } from './top-up.ts'
import { usage } from './usage.ts'
import { visitors } from './visitors.ts'

export const ru = {
  ...frame,
  docs,
  front,
  errors,
  ...account,
  ...recovery,
  ...settings,
  ...home,
  ...buying,
  ...key,
  ...usage,
  ...sessions,
  ...pricing,
  ...visitors,
  ...limits,
  ...topUp,
} as const

/** The shape another language must have: the same keys, without the forms that only Russian has. */
export type Same<T> = T extends string
  ? string
  : { readonly [Key in keyof T as Key extends Extra ? never : Key]: Same<T[Key]> }
type Extra = `${string}_few` | `${string}_many`
