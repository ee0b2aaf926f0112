// Accessibility of the overview and settings screens; access.ts has the checks.

import { ownerScreens } from '../screen/owner.ts'
import { declareAccessTests } from './access.ts'

declareAccessTests(ownerScreens)
