// The screens of buying are for everybody; access.ts says what that means.
import { accessOf } from './access.ts'
import { moneyScreens } from './screens-money.ts'

accessOf(moneyScreens)
