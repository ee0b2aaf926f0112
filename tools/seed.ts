// Makes an account with credits and a key for development, through the rooms' doors, and prints the
// key. Repeatable: a key that is kept in the given file and still in force is used again, and its
// balance is filled up when it runs low. The database is the configured one.
//   node tools/node.mjs tools/seed.ts [file for the key]
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { loadConfig } from '../src/platform/config.ts'
import type { BookId } from '../src/platform/ids.ts'
import { newInstanceId } from '../src/platform/ids.ts'
import { isRefusal } from '../src/platform/refusal.ts'
import { credits } from '../src/units/credits.ts'
import { type Rooms, wire } from '../src/wiring.ts'

/** The smallest pack; filled up when less than half of one is left. */
const PACK = 35_000_000n

const file = process.argv[2] ?? '.tollgate/dev-key'
const loaded = loadConfig()
if ('complaints' in loaded) throw new Error(loaded.complaints.join('\n'))
const rooms = await wire(loaded.config, [], 'seed')
try {
  const known = existsSync(file) ? readFileSync(file, 'utf8').trim() : ''
  const { plain, book } = (await inForce(rooms, known)) ?? (await made(rooms))
  await fill(rooms, book)
  if (plain !== known) writeFileSync(file, `${plain}\n`, { mode: 0o600 })
  console.log(plain)
} finally {
  await rooms.ledger.stop(1_000)
  await rooms.db.end()
}

/** Undefined when the key is of another database, or was reissued. */
async function inForce({ keys }: Rooms, plain: string) {
  if (plain === '') return undefined
  try {
    const { book } = await keys.verify(plain, '127.0.0.1')
    return { plain, book }
  } catch (error) {
    if (isRefusal(error, 'key_unknown') || isRefusal(error, 'key_revoked')) return undefined
    if (isRefusal(error, 'key_malformed')) return undefined
    throw error
  }
}

async function made({ db, keys, ledger }: Rooms) {
  const book = await ledger.open(db)
  const { plain, keyId } = await db.transaction((tx) => keys.issue(tx, book))
  await db.transaction((tx) => keys.confirm(tx, book, keyId))
  return { plain, book }
}

async function fill({ db, ledger }: Rooms, book: BookId): Promise<void> {
  const found = await ledger.balance(book)
  if (found !== undefined && found.available * 2n >= credits(PACK)) return
  const posted = {
    book,
    kind: 'purchase' as const,
    // Postings happen once for each reference, and this one may be wanted again.
    ref: `development ${book} ${newInstanceId()}`,
    amount: credits(PACK),
    contra: 'clearing' as const,
    note: 'a pack for development',
  }
  await db.transaction((tx) => ledger.credit(tx, posted))
}
