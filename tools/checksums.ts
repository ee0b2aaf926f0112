// Records the checksums of new migrations in migrations/checksums.json. It only appends: a
// changed migration is a mistake, which the architecture test reports. Before a migration is
// merged, its author may delete its line and run this again.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = join(dirname(dirname(fileURLToPath(import.meta.url))), 'migrations')
const record = join(folder, 'checksums.json')
const known: Record<string, string> = existsSync(record)
  ? JSON.parse(readFileSync(record, 'utf8'))
  : {}
const fresh = readdirSync(folder)
  .filter((name) => /^\d{4}-.*\.sql$/.test(name) && !Object.hasOwn(known, name))
  .sort()

for (const name of fresh) {
  known[name] = createHash('sha256')
    .update(readFileSync(join(folder, name)))
    .digest('hex')
  console.log(`recorded ${name}`)
}
if (fresh.length > 0) writeFileSync(record, `${JSON.stringify(known, null, 2)}\n`)
else console.log('nothing new to record')
