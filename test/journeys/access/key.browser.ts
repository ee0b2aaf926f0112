// Accessibility of the API key screens; access.ts has the checks.

import { keyScreens } from '../screen/key.ts'
import { declareAccessTests } from './access.ts'

declareAccessTests(keyScreens)
