// The screens of the key are for everybody; access.ts says what that means.
import { accessOf } from './access.ts'
import { keyScreens } from './screens-key.ts'

accessOf(keyScreens)
