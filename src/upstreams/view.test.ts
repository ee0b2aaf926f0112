// What the operator sees of a target as a whole, with a manual clock.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BookId } from '../platform/ids.ts'
import { Capacity } from './capacity.ts'
import { createStanding } from './standing.ts'
import { viewOf } from './view.ts'

const [ONE, OTHER] = [1n, 2n] as [BookId, BookId]

function create() {
  const now = { ms: 50_000 }
  const nowMs = () => now.ms
  const standing = createStanding(nowMs, () => 1)
  const made = () => new Capacity(nowMs, { standing, connections: 64, paid: () => undefined })
  const counts = { underWay: 0, succeeded: 0, failed: 0, firstByteMs: 0 }
  const capacities = new Map(['large', 'small'].map((model) => [model, made()]))
  const viewed = { label: 'a#1', counts, standing, capacities }
  const capacityOf = (model: string) => capacities.get(model) ?? assert.fail()
  return {
    now,
    state: () => viewOf(viewed, { ...viewed, capacities: new Map() }, now.ms).state,
    serve: (model: string) => capacityOf(model).serve(ONE, now.ms),
    fail(model: string): void {
      const { breaker } = capacityOf(model)
      for (let i = 0; i < 5; i++) {
        breaker.fail(breaker.begin(), { book: i % 2 === 0 ? ONE : OTHER, bodyHash: i })
      }
    },
  }
}

test('a target serves while one of its models is served, although another one fails', () => {
  const on = create()
  assert.equal(on.state(), 'closed')
  on.serve('small')
  on.fail('large')
  assert.equal(on.state(), 'closed')
})

test('a target fails when every model fails that was used within the last minute', () => {
  const on = create()
  on.serve('small')
  on.now.ms += 60_000
  on.fail('large')
  assert.equal(on.state(), 'open', 'that a model served long ago shows nothing')
  on.serve('small')
  assert.equal(on.state(), 'closed')
})
