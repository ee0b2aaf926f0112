// The screens of an order in all its states are for everybody; access.ts says what that means.

import { orderScreens } from '../screen/money.ts'
import { accessOf } from './access.ts'

accessOf(orderScreens)
