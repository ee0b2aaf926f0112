// Everything the pages say in English; the keys are those of ru.ts.
import { account } from './en/account.ts'
import { buying } from './en/buying.ts'
import { docs } from './en/docs.ts'
import { errors } from './en/errors.ts'
import { frame } from './en/frame.ts'
import { home } from './en/home.ts'
import { key } from './en/key.ts'
import { limits } from './en/limits.ts'
import { settings } from './en/settings.ts'
import { usage } from './en/usage.ts'
import { visitors } from './en/visitors.ts'
import type { ru, Same } from './ru.ts'

export const en: Same<typeof ru> = {
  ...frame,
  docs,
  errors,
  ...account,
  ...settings,
  ...home,
  ...buying,
  ...key,
  ...usage,
  ...visitors,
  ...limits,
}
