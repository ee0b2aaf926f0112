// Every screen that the cabinet has. `npm run screens` takes their pictures, access.ts looks at
// them with other eyes, and a test counts that no route is without one.

import type { Screen } from './screen.ts'
import { guestScreens } from './screens-guest.ts'
import { keyScreens } from './screens-key.ts'
import { moneyScreens, orderScreens } from './screens-money.ts'
import { ownerScreens } from './screens-owner.ts'
import { siteScreens } from './screens-site.ts'

export const screens: readonly Screen[] = [
  ...guestScreens,
  ...siteScreens,
  ...ownerScreens,
  ...moneyScreens,
  ...orderScreens,
  ...keyScreens,
]
