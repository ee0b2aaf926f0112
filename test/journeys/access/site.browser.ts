// The screens for visitors, and those of usage and limits, are for everybody; access.ts says what
// that means.

import { siteScreens } from '../screen/site.ts'
import { accessOf } from './access.ts'

accessOf(siteScreens)
