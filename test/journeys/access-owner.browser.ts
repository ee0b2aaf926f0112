// The screens of the overview and the settings are for everybody; access.ts says what that means.
import { accessOf } from './access.ts'
import { ownerScreens } from './screens-owner.ts'

accessOf(ownerScreens)
