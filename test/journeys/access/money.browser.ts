// The screens of buying are for everybody; access.ts says what that means.

import { moneyScreens } from '../screen/money.ts'
import { accessOf } from './access.ts'

accessOf(moneyScreens)
