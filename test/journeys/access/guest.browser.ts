// The screens of who is not signed in are for everybody; access.ts says what that means.

import { guestScreens } from '../screen/guest.ts'
import { accessOf } from './access.ts'

accessOf(guestScreens)
