// Creates the data of a demo or development run: an account that can sign in, with a month of
// purchases and requests, credits and a key; and an operator. Prints the key. Repeatable: it uses
// existing data again, and adds credits when the balance is low. Needs the stand-in bank.
//   node tools/node.mjs tools/seed.ts [file for the key]
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { openDocuments } from '../src/cabinet/cabinet.ts'
import { loadConfig } from '../src/platform/config.ts'
import type { BookId } from '../src/platform/ids.ts'
import { newInstanceId } from '../src/platform/ids.ts'
import { isRefusal } from '../src/platform/refusal.ts'
import type { Snapshot } from '../src/pricing/pricing.ts'
import { credits } from '../src/units/credits.ts'
import { type Modules, wire } from '../src/wiring.ts'
import { seedMonth } from './seed-month.ts'
import { seedOperator } from './seed-operator.ts'
import { SIGN_IN } from './seed-sign-in.ts'

/** The smallest pack; the balance is refilled when a quarter of it is left. */
const PACK = 35_000_000n

const file = process.argv[2] ?? '.tollgate/dev-key'
const loaded = loadConfig()
if ('problems' in loaded) throw new Error(loaded.problems.join('\n'))
if (loaded.config.mode === 'production') throw new Error('a seed is nothing for production')
// Standard output has only the key.
const log = { ...loaded.config.log, level: 'warn' as const }
const modules = await wire({ ...loaded.config, log }, [], 'seed')
try {
  const book = await account(modules)
  const known = existsSync(file) ? readFileSync(file, 'utf8').trim() : ''
  const plain = (await isInForce(modules, known, book)) ? known : await made(modules, book)
  if (plain !== known) writeFileSync(file, `${plain}\n`, { mode: 0o600 })
  const isEmpty = (await modules.ledger.balance(book))?.seq === 0n
  if (isEmpty) {
    await seedMonth(modules, { book, email: SIGN_IN.email }, await prices(modules))
    // The worker does this once an hour; until then it would report that nobody compares payments.
    await modules.payments.jobs.tie()
    await modules.payments.jobs.compareDays()
  }
  await fill(modules, book)
  await seedOperator(modules, dirname(file))
  console.log(plain)
} finally {
  modules.pricing.stop()
  modules.mail.close()
  await modules.payments.stop()
  await modules.ledger.stop(1_000)
  await modules.db.end()
}

/** The account of the demo, registered and confirmed in the same way as a person's. */
async function account({ accounts, config, db }: Modules): Promise<BookId> {
  const found = await accounts.findByEmail(SIGN_IN.email)
  if (found !== undefined) return found.book
  const { cabinetUrl, documentsFile } = config.brand
  const { origin } = new URL(cabinetUrl)
  const post = async (path: string, body: object): Promise<void> => {
    const headers = { origin, 'content-type': 'application/json', 'user-agent': 'seed' }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    const request = new Request(`${origin}/api/auth${path}`, init)
    const response = await accounts.handle(request, { address: '127.0.0.1' })
    if (!response.ok) throw new Error(`${path} answered ${await response.text()}`)
  }
  const consents = openDocuments(documentsFile)
    .list()
    .map(({ document, version }) => ({ document, version }))
  await post('/register', { ...SIGN_IN, language: 'ru', consents })
  const { rows } = await db.query(
    `select body_text as text from letters where recipient = $1 order by posted_at desc limit 1`,
    [SIGN_IN.email],
  )
  const code = /#code=([\w-]+)/.exec((rows[0] as { text: string }).text)?.[1]
  await post('/confirm', { code, password: SIGN_IN.password })
  const made = await accounts.findByEmail(SIGN_IN.email)
  if (made === undefined) throw new Error('the account of the seed was not made')
  await db.query(`update accounts set created_at = created_at - interval '30 days' where id = $1`, [
    made.id,
  ])
  return made.book
}

/** False when the key belongs to another database or account, or was reissued. */
async function isInForce({ keys }: Modules, plain: string, book: BookId): Promise<boolean> {
  if (plain === '') return false
  try {
    return (await keys.verify(plain, '127.0.0.1')).book === book
  } catch (error) {
    if (isRefusal(error, 'key_unknown') || isRefusal(error, 'key_revoked')) return false
    if (isRefusal(error, 'key_malformed')) return false
    throw error
  }
}

async function made({ db, keys }: Modules, book: BookId): Promise<string> {
  const { plain, keyId } = await db.transaction((tx) => keys.issue(tx, book))
  await db.transaction((tx) => keys.confirm(tx, book, keyId))
  return plain
}

/** The current prices; on an empty database those of the file, as at a first start. */
async function prices({ pricing, config }: Modules): Promise<Snapshot> {
  if ((await pricing.start()) === undefined) {
    const read = pricing.parse(readFileSync(config.catalogue.file, 'utf8'))
    if ('problems' in read) throw new Error(read.problems.join('\n'))
    await pricing.apply(read.catalogue, { by: 'first start', note: '' })
  }
  return pricing.current()
}

async function fill({ db, ledger }: Modules, book: BookId): Promise<void> {
  const found = await ledger.balance(book)
  if (found !== undefined && found.available * 4n >= credits(PACK)) return
  const posted = {
    book,
    // Not a purchase: no order was paid, and the settlement watch would report it.
    kind: 'promo' as const,
    // A reference can be posted only once, and later runs must be able to post again.
    ref: `development ${book} ${newInstanceId()}`,
    amount: credits(PACK),
    contra: 'promo' as const,
    note: 'a pack for development',
  }
  await db.transaction((tx) => ledger.credit(tx, posted))
}
