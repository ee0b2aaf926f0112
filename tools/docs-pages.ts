// Writes the generated pages of the documentation: docs/api.md from docs/openapi.json, and
// docs/settings.md from tollgate.example.yaml, both also in Russian.
//   node tools/node.mjs tools/docs-pages.ts
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { apiPage } from './api-page.ts'
import { settingsPage } from './settings-page.ts'

const docs = join(import.meta.dirname, '../docs')
for (const [name, page] of Object.entries({ api: apiPage, settings: settingsPage })) {
  writeFileSync(join(docs, `${name}.md`), page('en'))
  writeFileSync(join(docs, 'ru', `${name}.md`), page('ru'))
}
