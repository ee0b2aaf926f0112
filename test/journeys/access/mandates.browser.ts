// Accessibility of the screens of automatic top-up; access.ts has the checks.

import { mandateScreens } from '../screen/mandates.ts'
import { declareAccessTests } from './access.ts'

declareAccessTests(mandateScreens)
