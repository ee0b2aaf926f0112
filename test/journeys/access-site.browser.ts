// The screens for visitors, and those of usage and limits, are for everybody; access.ts says what
// that means.
import { accessOf } from './access.ts'
import { siteScreens } from './screens-site.ts'

accessOf(siteScreens)
