// npm run roles-table: writes migrations/grants.txt and docs/database-roles.md from a freshly
// migrated database, by trying everything as each role.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { grantsText, rolesPage } from '../test/roles/table.ts'
import { createTestDatabase } from '../test/support/harness.ts'

const root = join(import.meta.dirname, '..')
const database = await createTestDatabase()
try {
  const lines = await grantsText(database)
  await writeFile(join(root, 'migrations/grants.txt'), lines)
  await writeFile(join(root, 'docs/database-roles.md'), rolesPage(lines))
} finally {
  await database.drop()
}
