// The retry budget: how many retries the gateway may add at targets that are not well.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRetryBudget } from './retry-budget.ts'

function taken(budget: ReturnType<typeof createRetryBudget>): number {
  let count = 0
  while (budget.take()) count += 1
  return count
}

test('starts with a reserve of a hundred retries', () => {
  assert.equal(taken(createRetryBudget()), 100)
})

test('allows one retry for every two requests when the reserve is used', () => {
  const budget = createRetryBudget()
  taken(budget)
  let repeats = 0
  for (let request = 0; request < 1_000; request++) {
    budget.earn()
    if (budget.take()) repeats += 1
  }
  assert.equal(repeats, 500)
})

test('never saves up more than the reserve', () => {
  const budget = createRetryBudget()
  for (let request = 0; request < 10_000; request++) budget.earn()
  assert.equal(taken(budget), 100)
})
