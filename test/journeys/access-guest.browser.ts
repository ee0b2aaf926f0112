// The screens of who is not signed in are for everybody; access.ts says what that means.
import { accessOf } from './access.ts'
import { guestScreens } from './screens-guest.ts'

accessOf(guestScreens)
