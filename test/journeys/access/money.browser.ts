// Accessibility of the purchase screens; access.ts has the checks.

import { moneyScreens } from '../screen/money.ts'
import { declareAccessTests } from './access.ts'

declareAccessTests(moneyScreens)
