// Accessibility of the screens of an order in all its states; access.ts has the checks.

import { orderScreens } from '../screen/money.ts'
import { declareAccessTests } from './access.ts'

declareAccessTests(orderScreens)
