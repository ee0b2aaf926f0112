// Accessibility of the screens of automatic top-up; access.ts has the checks.

import { endingScreens } from '../screen/endings.ts'
import { mandateScreens } from '../screen/mandates.ts'
import { declareAccessTests } from './access.ts'

declareAccessTests([...mandateScreens, ...endingScreens])
