// Accessibility of the public screens and of those for usage and limits; access.ts has the checks.

import { siteScreens } from '../screen/site.ts'
import { declareAccessTests } from './access.ts'

declareAccessTests(siteScreens)
