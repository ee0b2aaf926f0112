// The public screens, and those for usage and limits.
import { paths } from '../../../web/paths.ts'
import { type Screen, screen, visit } from './screen.ts'

export const siteScreens: readonly Screen[] = [
  screen('front', 'home', 'guest'),
  screen('prices', 'prices', 'guest'),
  screen('charging', 'charging', 'guest'),
  screen('start', 'start', 'guest'),
  screen('status', 'status', 'guest'),
  {
    ...screen('docs', 'docs', 'guest'),
    open: (on) => visit(on, paths.docs.replace('$page', 'quick-start')),
  },
  screen('usage', 'usage', 'regular'),
  screen('usage-empty', 'usage', 'payer'),
  screen('limits', 'limits', 'regular'),
]
