// What becomes of a request whose place is shed at the moment in which its wait ends.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../platform/clock.ts'
import type { BookId } from '../platform/ids.ts'
import { createShares } from '../platform/shares.ts'
import { createAdmission } from './admission.ts'
import type { Exchange } from './exchange.ts'

const [HEAVY, LIGHT] = [1n, 2n] as [BookId, BookId]

/** The only member of an exchange that admission uses. */
const holder = () => ({ onShed: undefined }) as unknown as Exchange

function setUp(capacity: number) {
  const waiting = createShares({ capacity, least: 1, spanMs: systemClock.spanMs })
  const admission = createAdmission({
    clock: systemClock,
    waitBytesMax: 1_000,
    settings: { bodyBytesMax: 100 },
    upstreams: { waiting, connections: () => new Map() },
    freeMax: capacity,
  })
  return { admission, waiting }
}

test('a wait ends once: with its result, or shed and undone', async () => {
  const seen = new Set<string>()
  for (const turns of [0, 1, 2, 3, 4, 5]) {
    const { admission, waiting } = setUp(4)
    // The account's other requests cannot be ended.
    assert.ok(waiting.open(HEAVY, { onShed: undefined }).take(3))
    const undone: string[] = []
    const work = Promise.withResolvers<string>()
    const waited = admission.waitFor(
      holder(),
      HEAVY,
      () => work.promise,
      (one) => undone.push(one),
    )
    const other = waiting.open(LIGHT, { onShed: undefined })
    // Another account needs the place so many promise reactions after the work has ended.
    work.resolve('a hold')
    for (let i = 0; i < turns; i++) await Promise.resolve()
    other.take(1)
    const result = await waited.catch(() => 'shed')
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual(undone, result === 'shed' ? ['a hold'] : [], `after ${turns} turns`)
    seen.add(result)
  }
  assert.deepEqual([...seen], ['shed', 'a hold'])
})
