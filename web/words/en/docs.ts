// The documentation for those who call the API, in English.

import type { docs as ru } from '../ru/docs.ts'
import type { Same } from '../ru/ru.ts'

export const docs: Same<typeof ru> = {
  title: 'Documentation',
  parts: 'Parts of the documentation',
  'quick-start': 'Quick start',
  charging: 'Costs',
  api: 'API reference',
  errors: 'Errors',
  versioning: 'Versions',
  english: 'This part is in English only.',
}
