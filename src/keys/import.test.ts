// Tests of importing keys of another service, line by line, on a real PostgreSQL.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import {
  createTestDatabase,
  createTestKeys,
  createTestLedger,
  type TestDatabase,
  type TestLedger,
} from '../../test/support/harness.ts'
import type { BookId } from '../platform/ids.ts'
import { isRefusal } from '../platform/refusal.ts'

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

const newKeys = () => createTestKeys(at.database.db, at.ledger)

const newBook = () => at.ledger.createBook(at.database.db)
const newSecret = (start = '') => `sk-vendor-03-${start}${randomBytes(24).toString('base64url')}`

async function reportsOf(
  lines: string[],
  findBook?: (owner: string) => Promise<BookId | undefined>,
) {
  const reports = await Array.fromAsync(newKeys().importLines(lines, findBook))
  return { reports, outcomes: reports.map(({ outcome }) => outcome) }
}

test('verifies an imported key at once, for the book in its line', async () => {
  const [book, other] = [await newBook(), await newBook()]
  const [plain, second] = [newSecret(), newSecret()]
  const { reports } = await reportsOf([
    `${book} ${plain}`,
    '',
    JSON.stringify({ book: String(other), key: second }),
  ])
  assert.deepEqual(reports, [
    { line: 1, outcome: 'imported', last4: plain.slice(-4), book, sentence: 'Imported.' },
    { line: 3, outcome: 'imported', last4: second.slice(-4), book: other, sentence: 'Imported.' },
  ])
  const { verify } = newKeys()
  assert.equal((await verify(plain, '')).book, book)
  assert.equal((await verify(second, '')).book, other)
  await assert.rejects(verify(newSecret(), ''), (error) => isRefusal(error, 'key_unknown'))
  assert.equal((await verify(plain, '')).fence, (await at.ledger.balance(book))?.fence)
})

test('finds the book with the findBook function that the caller passes', async () => {
  const book = await newBook()
  const findBook = async (owner: string) => (owner === 'ann@example.com' ? book : undefined)
  const { outcomes } = await reportsOf(
    [
      JSON.stringify({ account: 'eve@example.com', key: newSecret() }),
      `ann@example.com ${newSecret()}`,
    ],
    findBook,
  )
  assert.deepEqual(outcomes, ['refused', 'imported'])
})

test('reports a refused line without showing a key, and imports the other lines', async () => {
  const [book, takenBook] = [await newBook(), await newBook()]
  const [plain, takenKey] = [newSecret(), newSecret()]
  await reportsOf([`${takenBook} ${takenKey}`])
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
    `${book} ${takenKey}`,
    `${takenBook} ${plain}`,
    `${book} ${plain}`,
  ]
  const { reports, outcomes } = await reportsOf(lines)
  assert.deepEqual(outcomes, [...lines.slice(1).map(() => 'refused'), 'imported'])
  const shown = JSON.stringify(reports, (_, value) =>
    typeof value === 'bigint' ? String(value) : value,
  )
  for (const key of [plain, takenKey]) {
    assert.equal(shown.includes(key.slice(-5)), false)
    assert.equal(shown.includes(key.slice(13, 18)), false)
  }
})

test('stores nothing twice and changes no book when an import is repeated', async () => {
  const [book, other] = [await newBook(), await newBook()]
  const plain = newSecret()
  assert.deepEqual((await reportsOf([`${book} ${plain}`])).outcomes, ['imported'])
  const fence = (await at.ledger.balance(book))?.fence
  assert.deepEqual((await reportsOf([`${book} ${plain}`, `${other} ${plain}`])).outcomes, [
    'repeated',
    'refused',
  ])
  assert.equal((await at.ledger.balance(book))?.fence, fence)
  assert.equal((await newKeys().verify(plain, '')).book, book)
})

test('imports a key for only one of three books that import it at the same time', async () => {
  const books = [await newBook(), await newBook(), await newBook()]
  const plain = newSecret()
  const outcomes = await Promise.all(
    books.map(async (book) => (await reportsOf([`${book} ${plain}`])).outcomes[0]),
  )
  assert.deepEqual(outcomes.sort(), ['imported', 'refused', 'refused'])
})

test('refuses to import a revoked key again', async () => {
  const book = await newBook()
  const plain = newSecret()
  await reportsOf([`${book} ${plain}`])
  await at.database.db.transaction((tx) => newKeys().revoke(tx, book))
  assert.deepEqual((await reportsOf([`${book} ${plain}`])).outcomes, ['refused'])
})

test('distinguishes four keys with the same first characters, and refuses a fifth', async () => {
  const books = [await newBook(), await newBook(), await newBook(), await newBook()]
  const keys = books.map(() => newSecret('same-first-12'))
  const lines = books.map((book, n) => `${book} ${keys[n]}`)
  await reportsOf(lines)
  const { verify } = newKeys()
  for (const [n, plain] of keys.entries()) assert.equal((await verify(plain, '')).book, books[n])
  const { outcomes } = await reportsOf([`${await newBook()} ${newSecret('same-first-12')}`])
  assert.deepEqual(outcomes, ['refused'])
})

test('stops the import at a fault and keeps the keys imported before it', async () => {
  const book = await newBook()
  const plain = newSecret()
  const findBook = async (owner: string) => {
    if (owner === 'b') throw new Error('the directory is away')
    return book
  }
  const done = newKeys().importLines([`a ${plain}`, `b ${newSecret()}`], findBook)
  assert.equal((await done.next()).value?.outcome, 'imported')
  await assert.rejects(done.next(), /the directory is away/)
  assert.equal((await newKeys().verify(plain, '')).book, book)
})
