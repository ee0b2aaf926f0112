// Every screen that the cabinet has. `npm run screens` takes their pictures, access/access.ts looks
// at them with other eyes, and a test counts that no route is without one.

import { guestScreens } from './guest.ts'
import { keyScreens } from './key.ts'
import { moneyScreens, orderScreens } from './money.ts'
import { ownerScreens } from './owner.ts'
import type { Screen } from './screen.ts'
import { siteScreens } from './site.ts'

export const screens: readonly Screen[] = [
  ...guestScreens,
  ...siteScreens,
  ...ownerScreens,
  ...moneyScreens,
  ...orderScreens,
  ...keyScreens,
]
