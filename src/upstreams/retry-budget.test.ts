// The retry budget: how many retries the gateway may add at targets that are not well.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BookId } from '../platform/ids.ts'
import { createRetryBudget } from './retry-budget.ts'

const [ONE, OTHER, THIRD] = [1n, 2n, 3n] as [BookId, BookId, BookId]

type Budget = ReturnType<typeof createRetryBudget>

function taken(budget: Budget, book: BookId): number {
  let count = 0
  while (budget.take(book)) count += 1
  return count
}

/** How many of `requests` of an account may be retried once. */
function retried(budget: Budget, book: BookId, requests: number): number {
  let count = 0
  for (let request = 0; request < requests; request++) {
    budget.earn(book)
    if (budget.take(book)) count += 1
  }
  return count
}

test('starts with a reserve of a hundred retries, half of which one account may take', () => {
  const budget = createRetryBudget()
  assert.deepEqual(
    [ONE, OTHER, THIRD].map((book) => taken(budget, book)),
    [50, 50, 0],
  )
})

test('allows one retry for every two requests when the reserve is used', () => {
  const budget = createRetryBudget()
  for (const book of [ONE, OTHER]) taken(budget, book)
  assert.equal(retried(budget, ONE, 1_000), 500)
})

test('an account that retries everything leaves the others what they earn', () => {
  const budget = createRetryBudget()
  let others = 0
  for (let request = 0; request < 1_000; request++) {
    budget.earn(ONE)
    taken(budget, ONE)
    others += retried(budget, OTHER, 1)
  }
  assert.ok(others >= 500, `one retry for every two requests (${others})`)
})

test('never saves up more than the reserve', () => {
  const budget = createRetryBudget()
  for (let request = 0; request < 10_000; request++) budget.earn(ONE)
  assert.deepEqual([taken(budget, ONE), taken(budget, OTHER)], [50, 50])
})

test('forgets accounts beyond a number, of which the longest known go first', () => {
  const budget = createRetryBudget()
  taken(budget, ONE)
  for (let book = 10n; book < 20_010n; book += 1n) {
    for (let request = 0; request < 2; request++) budget.earn(book as BookId)
    assert.equal(budget.take(book as BookId), true)
  }
  assert.ok(budget.accounts() <= 10_000)
})
