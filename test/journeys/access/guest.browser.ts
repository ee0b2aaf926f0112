// Accessibility of the screens for visitors who are not signed in; access.ts has the checks.

import { guestScreens } from '../screen/guest.ts'
import { declareAccessTests } from './access.ts'

declareAccessTests(guestScreens)
