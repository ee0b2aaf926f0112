// Keys of another service, brought in line by line on a real PostgreSQL.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import {
  createTestDatabase,
  createTestLedger,
  quiet,
  type TestDatabase,
  type TestLedger,
} from '../../test/support/harness.ts'
import { systemClock } from '../platform/clock.ts'
import type { BookId } from '../platform/ids.ts'
import { Masked } from '../platform/masked.ts'
import { isRefusal } from '../platform/refusal.ts'
import { createKeys } from './keys.ts'

const at = {
  database: undefined as unknown as TestDatabase,
  ledger: undefined as unknown as TestLedger,
}

before(async () => {
  at.database = await createTestDatabase()
  at.ledger = await createTestLedger(at.database.url)
})
after(async () => {
  await at.ledger.end()
  await at.database.drop()
})

function startProcess() {
  return createKeys({
    db: at.database.db,
    ledger: at.ledger,
    clock: systemClock,
    log: quiet,
    slug: 'vendor',
    cell: 0,
    tagSecret: new Masked('a tag secret'),
    lookupSecret: new Masked('a lookup secret'),
    verifiedMax: 100,
    wrongMax: 100,
    verifyQueue: 64,
    wrongPerMinute: 20,
  })
}

const newBook = () => at.ledger.open(at.database.db)
const importable = (start = '') => `sk-vendor-03-${start}${randomBytes(24).toString('base64url')}`

async function reportsOf(lines: string[], bookOf?: (owner: string) => Promise<BookId | undefined>) {
  const reports = await Array.fromAsync(startProcess().importLines(lines, bookOf))
  return { reports, outcomes: reports.map(({ outcome }) => outcome) }
}

test('an imported key works at once, for the book it was brought in for', async () => {
  const [book, other] = [await newBook(), await newBook()]
  const [plain, second] = [importable(), importable()]
  const { reports } = await reportsOf([
    `${book} ${plain}`,
    '',
    JSON.stringify({ book: String(other), key: second }),
  ])
  assert.deepEqual(reports, [
    { line: 1, outcome: 'imported', last4: plain.slice(-4), book, sentence: 'Imported.' },
    { line: 3, outcome: 'imported', last4: second.slice(-4), book: other, sentence: 'Imported.' },
  ])
  const { verify } = startProcess()
  assert.equal((await verify(plain, '')).book, book)
  assert.equal((await verify(second, '')).book, other)
  await assert.rejects(verify(importable(), ''), (error) => isRefusal(error, 'key_unknown'))
  assert.equal((await verify(plain, '')).fence, (await at.ledger.balance(book))?.fence)
})

test('owners may be named as the caller knows them', async () => {
  const book = await newBook()
  const bookOf = async (owner: string) => (owner === 'ann@example.com' ? book : undefined)
  const { outcomes } = await reportsOf(
    [
      JSON.stringify({ account: 'eve@example.com', key: importable() }),
      `ann@example.com ${importable()}`,
    ],
    bookOf,
  )
  assert.deepEqual(outcomes, ['refused', 'imported'])
})

test('a line that is refused is reported without showing a key, and the rest goes on', async () => {
  const [book, taken] = [await newBook(), await newBook()]
  const [plain, once] = [importable(), importable()]
  await reportsOf([`${taken} ${once}`])
  const lines = [
    `${book}`,
    `${book} ${plain} more`,
    `{"book": ${book}, "key": "${plain}`,
    '{"book": 1.5, "key": "sk-vendor-03-abc"}',
    `{"key": "${plain}"}`,
    `nobody ${plain}`,
    `999999999 ${plain}`,
    `${book} ${plain.slice(0, 'sk-vendor-03-'.length + 23)}`,
    `${book} ${plain.replace('-03-', '-api03-')}`,
    `${book} ${plain.replace('vendor', 'other')}`,
    `${book} ${once}`,
    `${taken} ${plain}`,
    `${book} ${plain}`,
  ]
  const { reports, outcomes } = await reportsOf(lines)
  assert.deepEqual(outcomes, [...lines.slice(1).map(() => 'refused'), 'imported'])
  const shown = JSON.stringify(reports, (_, value) =>
    typeof value === 'bigint' ? String(value) : value,
  )
  for (const key of [plain, once]) {
    assert.equal(shown.includes(key.slice(-5)), false)
    assert.equal(shown.includes(key.slice(13, 18)), false)
  }
})

test('an import may be repeated: nothing is stored twice and no key changes its book', async () => {
  const [book, other] = [await newBook(), await newBook()]
  const plain = importable()
  assert.deepEqual((await reportsOf([`${book} ${plain}`])).outcomes, ['imported'])
  const fence = (await at.ledger.balance(book))?.fence
  assert.deepEqual((await reportsOf([`${book} ${plain}`, `${other} ${plain}`])).outcomes, [
    'repeated',
    'refused',
  ])
  assert.equal((await at.ledger.balance(book))?.fence, fence)
  assert.equal((await startProcess().verify(plain, '')).book, book)
})

test('one key brought in for two books at once belongs to one of them', async () => {
  const books = [await newBook(), await newBook(), await newBook()]
  const plain = importable()
  const outcomes = await Promise.all(
    books.map(async (book) => (await reportsOf([`${book} ${plain}`])).outcomes[0]),
  )
  assert.deepEqual(outcomes.sort(), ['imported', 'refused', 'refused'])
})

test('a revoked key cannot be brought in again', async () => {
  const book = await newBook()
  const plain = importable()
  await reportsOf([`${book} ${plain}`])
  await at.database.db.transaction((tx) => startProcess().revoke(tx, book))
  assert.deepEqual((await reportsOf([`${book} ${plain}`])).outcomes, ['refused'])
})

test('four keys may begin alike and are told apart; a fifth is refused', async () => {
  const books = [await newBook(), await newBook(), await newBook(), await newBook()]
  const keys = books.map(() => importable('same-first-12'))
  const lines = books.map((book, n) => `${book} ${keys[n]}`)
  await reportsOf(lines)
  const { verify } = startProcess()
  for (const [n, plain] of keys.entries()) assert.equal((await verify(plain, '')).book, books[n])
  const { outcomes } = await reportsOf([`${await newBook()} ${importable('same-first-12')}`])
  assert.deepEqual(outcomes, ['refused'])
})

test('a fault ends the import: the lines before it stay', async () => {
  const book = await newBook()
  const plain = importable()
  const bookOf = async (owner: string) => {
    if (owner === 'b') throw new Error('the directory is away')
    return book
  }
  const done = startProcess().importLines([`a ${plain}`, `b ${importable()}`], bookOf)
  assert.equal((await done.next()).value?.outcome, 'imported')
  await assert.rejects(done.next(), /the directory is away/)
  assert.equal((await startProcess().verify(plain, '')).book, book)
})
