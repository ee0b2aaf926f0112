// The text of sums as PostgreSQL makes it, read back by UsageSums.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { TestDatabase } from '../../../test/support/harness.ts'
import { createTestDatabase } from '../../../test/support/harness.ts'
import { AMOUNTS, UsageSums } from './figures.ts'

const at = {} as { database: TestDatabase }

before(async () => {
  at.database = await createTestDatabase()
})
after(() => at.database.drop())

type Sum = {
  readonly bucket: number
  readonly amounts: readonly bigint[]
  readonly firstByte: readonly number[]
  readonly total: readonly number[]
}

/** An element of a histogram: so many requests in this step. */
const element = (count: number, step: number) => count * 64 + step

async function linesOf(sums: readonly Sum[]): Promise<string> {
  const texts = []
  for (const { bucket, amounts, firstByte, total } of sums) {
    const { rows } = await at.database.db.query('select usage_figures_text($1, $2, $3) as text', [
      amounts.map(String),
      firstByte,
      total,
    ])
    texts.push(`${bucket};${(rows[0] as { text: string }).text}`)
  }
  return texts.join('\n')
}

const amounts = (first: bigint) => AMOUNTS.map((_, i) => first + BigInt(i))

test('reads every amount exactly, also the greatest and a negative one', async () => {
  const greatest = 2n ** 63n - 1n
  const given = [...amounts(1n).slice(0, 8), 999_999_999_999_999n, greatest, -(2n ** 60n) - 1n]
  const sums = new UsageSums(1)
  sums.addLines(await linesOf([{ bucket: 1, amounts: given, firstByte: [], total: [] }]), 0)
  const figures = sums.figuresOf(1)
  assert.deepEqual(
    AMOUNTS.map((name) => figures?.[name]),
    given,
  )
  assert.deepEqual([figures?.firstByte, figures?.total], [null, null])
})

test('adds lines of several buckets, with and without times', async () => {
  const sums = new UsageSums(3)
  const lines = await linesOf([
    { bucket: 1, amounts: amounts(10n), firstByte: [], total: [element(10, 5)] },
    { bucket: 3, amounts: amounts(7n), firstByte: [element(3, 2), element(4, 9)], total: [] },
    { bucket: 3, amounts: amounts(100n), firstByte: [element(100, 2)], total: [] },
  ])
  sums.addLines(lines, 0)
  assert.equal(sums.figuresOf(1)?.requests, 10n)
  assert.equal(sums.figuresOf(2), undefined)
  assert.equal(sums.figuresOf(3)?.requests, 107n)
  assert.equal(sums.figuresOf(1)?.firstByte, null)
  assert.notEqual(sums.figuresOf(1)?.total, null)
  assert.equal(sums.totals()?.requests, 117n)
})

test('a correction takes from the next bucket what it gives to its own', async () => {
  const sums = new UsageSums(2)
  const whole = { amounts: amounts(50n), firstByte: [], total: [] }
  sums.addLines(await linesOf([{ bucket: 2, ...whole }]), 0)
  sums.addLines(await linesOf([{ ...whole, bucket: 1, amounts: amounts(20n) }]), 1)
  assert.deepEqual(
    [1, 2].map((bucket) => sums.figuresOf(bucket)?.requests),
    [20n, 30n],
  )
  sums.addLines(await linesOf([{ ...whole, bucket: 1, amounts: amounts(5n) }]), -1)
  assert.deepEqual(
    [1, 2].map((bucket) => sums.figuresOf(bucket)?.requests),
    [15n, 35n],
  )
})

test('sums without any line are empty', () => {
  const sums = new UsageSums(1)
  sums.addLines('', 0)
  assert.equal(sums.totals(), undefined)
})
