// The retry budget: how much the gateway may add to what clients send.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRetryBudget } from './budget.ts'

function taken(budget: ReturnType<typeof createRetryBudget>): number {
  let count = 0
  while (budget.take()) count += 1
  return count
}

test('the first moments of trouble have a reserve of a hundred repeats', () => {
  assert.equal(taken(createRetryBudget()), 100)
})

test('in a storm there is one repeat for every two requests', () => {
  const budget = createRetryBudget()
  taken(budget)
  let repeats = 0
  for (let request = 0; request < 1_000; request++) {
    budget.earn()
    if (budget.take()) repeats += 1
  }
  assert.equal(repeats, 500)
})

test('quiet times do not save up more than the reserve', () => {
  const budget = createRetryBudget()
  for (let request = 0; request < 10_000; request++) budget.earn()
  assert.equal(budget.left(), 100)
  assert.equal(taken(budget), 100)
})
