// npm run dump-schema: writes migrations/schema.sql and migrations/definitions.txt from a freshly
// migrated database.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  DEFINITIONS_FILE,
  definitionsText,
  readDefinitions,
} from '../src/platform/db/definitions.ts'
import { createTestDatabase } from '../test/support/harness.ts'
import { dumpSchema } from './schema.ts'

const migrations = join(import.meta.dirname, '../migrations')
const database = await createTestDatabase()
try {
  const definitions = await readDefinitions(database.db)
  if (definitions === undefined) throw new Error('somebody migrates this database')
  await writeFile(join(migrations, DEFINITIONS_FILE), definitionsText(definitions))
  const text = await dumpSchema(database.url)
  if (text === undefined) throw new Error('pg_dump is missing or older than the server')
  await writeFile(join(migrations, 'schema.sql'), text)
} finally {
  await database.drop()
}
