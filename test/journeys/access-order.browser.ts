// The screens of an order in all its states are for everybody; access.ts says what that means.
import { accessOf } from './access.ts'
import { orderScreens } from './screens-money.ts'

accessOf(orderScreens)
