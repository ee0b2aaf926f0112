// Titles of the documentation pages, in English.

import type { docs as ru } from '../ru/docs.ts'
import type { Same } from '../ru/ru.ts'

export const docs: Same<typeof ru> = {
  title: 'Documentation',
  parts: 'Documentation sections',
  'quick-start': 'Quick start',
  charging: 'Billing',
  api: 'API reference',
  errors: 'Errors',
  versioning: 'Versioning',
  english: 'This section is available in English only.',
}
