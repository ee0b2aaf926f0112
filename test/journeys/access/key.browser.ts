// The screens of the key are for everybody; access.ts says what that means.

import { keyScreens } from '../screen/key.ts'
import { accessOf } from './access.ts'

accessOf(keyScreens)
