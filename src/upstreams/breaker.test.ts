// The breaker alone, with a manual clock.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BookId } from '../platform/ids.ts'
import { createBreaker } from './breaker.ts'

const [ONE, OTHER] = [1n, 2n] as [BookId, BookId]

function create() {
  const clock = { ms: 50_000 }
  const breaker = createBreaker(() => clock.ms)
  return {
    clock,
    ...breaker,
    fail: (ticket: number, book = ONE) => breaker.fail(ticket, { book, bodyHash: ticket }),
    failAs: (book: BookId, bodyHash: number) => breaker.fail(breaker.begin(), { book, bodyHash }),
    /** Sends `count` different requests of one customer that fail, one after the other. */
    failTimes(count: number, book = ONE): void {
      for (let i = 0; i < count; i++) {
        const ticket = breaker.begin()
        breaker.fail(ticket, { book, bodyHash: ticket })
      }
    },
    /** A request whose reply is complete. */
    goWell(book = ONE): void {
      const ticket = breaker.begin()
      breaker.answer(ticket)
      breaker.succeed(ticket, book)
    },
  }
}

const look = (breaker: ReturnType<typeof create>) => [breaker.state(), breaker.isReady()]

test('opens at the fifth consecutive failure, not at the fourth', () => {
  const breaker = create()
  breaker.failTimes(4)
  assert.deepEqual(look(breaker), ['closed', true])
  breaker.failTimes(1)
  assert.deepEqual(look(breaker), ['open', false])
})

test('a complete reply between failures resets the count', () => {
  const breaker = create()
  breaker.failTimes(4)
  breaker.goWell()
  breaker.failTimes(4)
  assert.equal(breaker.state(), 'closed')
})

test('opens for a target that begins every reply and breaks it off', () => {
  const breaker = create()
  for (let i = 0; i < 5; i++) {
    const ticket = breaker.begin()
    breaker.answer(ticket)
    breaker.fail(ticket)
  }
  assert.equal(breaker.state(), 'open')
})

test('allows one probe a second, and one at a time while other targets are available', () => {
  const breaker = create()
  breaker.failTimes(5)
  let probes = 0
  for (let ms = 0; ms < 10_000; ms += 10, breaker.clock.ms += 10) {
    if (!breaker.isReady()) continue
    probes += 1
    breaker.fail(breaker.begin())
  }
  assert.equal(probes, 9)
  breaker.clock.ms += 1_000
  const hanging = breaker.begin()
  breaker.clock.ms += 60_000
  assert.deepEqual(look(breaker), ['probing', false])
  breaker.fail(hanging)
  assert.deepEqual(look(breaker), ['open', true], 'the last time was a minute ago')
})

test('a claimed probe blocks other probes for a second', () => {
  const breaker = create()
  breaker.failTimes(5)
  breaker.clock.ms += 1_000
  breaker.claim()
  assert.equal(breaker.isReady(), false)
  breaker.clock.ms += 1_000
  assert.equal(breaker.isReady(), true)
})

test('ignores a probe that still hangs when another one was answered', () => {
  const breaker = create()
  breaker.failTimes(5)
  breaker.clock.ms += 1_000
  const hanging = breaker.begin()
  breaker.clock.ms += 1_000
  const answered = breaker.begin()
  assert.equal(breaker.answer(answered), true)
  breaker.fail(hanging)
  assert.equal(breaker.state(), 'closed')
  breaker.fail(answered)
  assert.equal(breaker.state(), 'open', 'the one that was answered goes on to count')
})

test('is failing while several customers’ requests fail, until a reply or until it opens', () => {
  const breaker = create()
  assert.equal(breaker.isFailing(), false)
  breaker.failTimes(1)
  assert.equal(breaker.isFailing(), false, 'this customer’s request may be the cause')
  breaker.failTimes(1, OTHER)
  assert.equal(breaker.isFailing(), true)
  breaker.goWell()
  assert.equal(breaker.isFailing(), false)
  breaker.failTimes(5)
  assert.deepEqual([breaker.isFailing(), breaker.state()], [false, 'open'])
})

test('one customer’s failures do not open it while others are served', () => {
  const breaker = create()
  breaker.goWell(OTHER)
  breaker.failTimes(100)
  assert.equal(breaker.state(), 'closed')
  breaker.failTimes(1, OTHER)
  assert.equal(breaker.state(), 'open', 'now it fails for others too')
})

test('one customer’s failures open it when nobody else was served for a minute', () => {
  const breaker = create()
  breaker.goWell(OTHER)
  breaker.clock.ms += 59_999
  breaker.failTimes(5)
  assert.equal(breaker.state(), 'closed')
  breaker.clock.ms += 1
  breaker.failTimes(1)
  assert.equal(breaker.state(), 'open')
})

test('the same request over and over does not open it', () => {
  const breaker = create()
  const fail = (bodyHash: number) => breaker.failAs(ONE, bodyHash)
  for (let i = 0; i < 100; i++) fail(7)
  assert.equal(breaker.state(), 'closed')
  fail(8)
  fail(9)
  assert.equal(breaker.state(), 'open', 'but three different ones do')
})

test('closes when a probe is answered', () => {
  const breaker = create()
  breaker.failTimes(5)
  breaker.clock.ms += 1_000
  breaker.goWell()
  assert.deepEqual(look(breaker), ['closed', true])
  breaker.failTimes(4)
  assert.equal(breaker.state(), 'closed', 'the old failures are forgotten')
})

test('opens again at one failure until a reply is complete', () => {
  const breaker = create()
  breaker.failTimes(5)
  breaker.clock.ms += 1_000
  breaker.answer(breaker.begin())
  assert.equal(breaker.state(), 'closed')
  breaker.failTimes(1)
  assert.deepEqual(look(breaker), ['open', false])
})

test('ignores requests that were sent before it opened', () => {
  const breaker = create()
  const sent = Array.from({ length: 20 }, () => breaker.begin())
  breaker.failTimes(5)
  const [answered, ...late] = sent as [number, ...number[]]
  breaker.answer(answered)
  breaker.succeed(answered, ONE)
  assert.equal(breaker.state(), 'open')
  breaker.clock.ms += 1_000
  breaker.goWell()
  for (const ticket of late) breaker.fail(ticket)
  assert.equal(breaker.state(), 'closed')
})

test('a probe whose client left allows another, a second after it began', () => {
  const breaker = create()
  breaker.failTimes(5)
  breaker.clock.ms += 1_000
  breaker.forget(breaker.begin())
  assert.equal(breaker.isReady(), false)
  breaker.clock.ms += 1_000
  assert.equal(breaker.isReady(), true)
})

test('the end of an older request does not allow a second probe', () => {
  const breaker = create()
  const sentBefore = breaker.begin()
  breaker.failTimes(5)
  breaker.clock.ms += 1_000
  const probe = breaker.begin()
  breaker.forget(sentBefore)
  breaker.clock.ms += 5_000
  assert.deepEqual(look(breaker), ['probing', false])
  breaker.answer(probe)
  assert.equal(breaker.state(), 'closed')
})

test('counts a probe that ended before its answer was reported', () => {
  const breaker = create()
  breaker.failTimes(5)
  breaker.clock.ms += 1_000
  const probe = breaker.begin()
  breaker.forget(probe)
  breaker.answer(probe)
  assert.equal(breaker.state(), 'closed')
})
