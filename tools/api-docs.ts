// Writes docs/api.md from docs/openapi.json.
//   node tools/node.mjs tools/api-docs.ts
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { apiPage } from './api-page.ts'

writeFileSync(join(import.meta.dirname, '../docs/api.md'), apiPage())
