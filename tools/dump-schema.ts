// npm run dump-schema: writes migrations/schema.sql from a freshly migrated database.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createTestDatabase } from '../test/support/harness.ts'
import { dumpSchema } from './schema.ts'

const database = await createTestDatabase()
try {
  const text = await dumpSchema(database.url)
  if (text === undefined) throw new Error('pg_dump is missing or older than the server')
  await writeFile(join(import.meta.dirname, '../migrations/schema.sql'), text)
} finally {
  await database.drop()
}
