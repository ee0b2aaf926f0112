// Every screen of the cabinet. `npm run screens` takes screenshots of them, access/access.ts checks
// their accessibility, and a test ensures that every route has one.

import { endingScreens } from './endings.ts'
import { guestScreens } from './guest.ts'
import { keyScreens } from './key.ts'
import { mandateScreens } from './mandates.ts'
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
  ...mandateScreens,
  ...keyScreens,
  ...endingScreens,
]
