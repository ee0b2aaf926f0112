// Tests of op usage refused: of an account, and of all accounts.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createOperatorStage, type OperatorStage } from '../../test/stages/operator.ts'
import type { BookId } from '../platform/ids.ts'

const at = { stage: undefined as unknown as OperatorStage, books: [] as BookId[] }

before(async () => {
  at.stage = await createOperatorStage()
  const { db, ledger } = at.stage
  at.books = [await ledger.createBook(db), await ledger.createBook(db)]
})
after(() => at.stage.end())

async function refuse(book: BookId | undefined, reason: string, times: number): Promise<void> {
  const { refused } = at.stage.ledger.usage
  for (let i = 0; i < times; i++) refused.count(book as BookId, reason)
  await refused.flush()
}

const cells = (out: string) => out.split('\n').map((line) => line.trim().split(/ {2,}/))

test('says that there is nothing', async () => {
  const { code, out } = await at.stage.op(['usage', 'refused', String(at.books[0])])
  assert.match(out, /\nno request was refused in the last 7 days$/)
  assert.equal(code, 0)
})

test('shows the reasons of an account, and the accounts with the most', async () => {
  const [first, second] = at.books
  await refuse(first, 'credits_insufficient', 1_200)
  await refuse(first, 'field_invalid', 3)
  await refuse(second, 'model_unknown', 40)
  const own = cells((await at.stage.op(['usage', 'refused', String(first)])).out)
  assert.deepEqual(
    own.slice(1).map((row) => row.slice(0, 2)),
    [
      ['reason', 'requests'],
      ['credits_insufficient', '1 200'],
      ['field_invalid', '3'],
    ],
  )
  const all = cells((await at.stage.op(['usage', 'refused', '--limit', '2'])).out)
  assert.deepEqual(
    all.map((row) => row.slice(0, 3)),
    [
      ['book', 'reason', 'requests'],
      [String(first), 'credits_insufficient', '1 200'],
      [String(second), 'model_unknown', '40'],
    ],
  )
  const { days, refused } = await at.stage.json<{ days: number; refused: { reason: string }[] }>(
    ...['usage', 'refused', String(second), '--days', '1'],
  )
  assert.deepEqual([days, refused.map(({ reason }) => reason)], [1, ['model_unknown']])
})

test('refuses numbers of days and lines that are none', async () => {
  for (const option of [
    ['--days', '91'],
    ['--days', '0'],
    ['--limit', '1001'],
  ]) {
    assert.equal((await at.stage.op(['usage', 'refused', ...option])).code, 2, option.join(' '))
  }
})
