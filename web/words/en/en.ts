// Everything the pages say in English; the keys are those of ru.ts.

import type { ru, Same } from '../ru/ru.ts'
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

export const en: Same<typeof ru> = {
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
}
