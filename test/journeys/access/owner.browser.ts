// The screens of the overview and the settings are for everybody; access.ts says what that means.

import { ownerScreens } from '../screen/owner.ts'
import { accessOf } from './access.ts'

accessOf(ownerScreens)
