// The breaker by itself, with a clock turned by hand.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBreaker } from './breaker.ts'

function create() {
  const clock = { ms: 50_000 }
  const breaker = createBreaker(() => clock.ms)
  return {
    clock,
    ...breaker,
    /** So many requests that fail, one after the other. */
    failTimes(count: number): void {
      for (let i = 0; i < count; i++) breaker.fail(breaker.begin())
    },
    /** A request that is answered and comes whole. */
    goWell(): void {
      const ticket = breaker.begin()
      breaker.answer(ticket)
      breaker.succeed(ticket)
    },
  }
}

const look = (breaker: ReturnType<typeof create>) => [breaker.state(), breaker.isReady()]

test('four failures in a row leave a target in use, the fifth takes it out', () => {
  const breaker = create()
  breaker.failTimes(4)
  assert.deepEqual(look(breaker), ['closed', true])
  breaker.failTimes(1)
  assert.deepEqual(look(breaker), ['open', false])
})

test('a whole reply between failures begins the count anew', () => {
  const breaker = create()
  breaker.failTimes(4)
  breaker.goWell()
  breaker.failTimes(4)
  assert.equal(breaker.state(), 'closed')
})

test('a target that breaks off whatever it begins is taken out too', () => {
  const breaker = create()
  for (let i = 0; i < 5; i++) {
    const ticket = breaker.begin()
    breaker.answer(ticket)
    breaker.fail(ticket)
  }
  assert.equal(breaker.state(), 'open')
})

test('a sick target is asked once a second, by one request at a time if there are others', () => {
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

test('who has nowhere else to go may ask a second after a probe that hangs', () => {
  const breaker = create()
  breaker.failTimes(5)
  let asked = 0
  for (let ms = 0; ms < 10_000; ms += 10, breaker.clock.ms += 10) {
    if (!breaker.isDue()) continue
    asked += 1
    breaker.begin()
  }
  assert.deepEqual([asked, ...look(breaker)], [9, 'probing', false])
})

test('a turn that is taken is nobody else’s for a second', () => {
  const breaker = create()
  breaker.failTimes(5)
  breaker.clock.ms += 1_000
  breaker.claim()
  assert.deepEqual([breaker.isDue(), breaker.isReady()], [false, false])
  breaker.clock.ms += 1_000
  assert.deepEqual([breaker.isDue(), breaker.isReady()], [true, true])
})

test('a probe that still hangs when another one is answered says nothing any more', () => {
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

test('a target is failing from its first failure until a whole reply or its end', () => {
  const breaker = create()
  assert.equal(breaker.isFailing(), false)
  breaker.failTimes(1)
  assert.equal(breaker.isFailing(), true)
  breaker.goWell()
  assert.equal(breaker.isFailing(), false)
  breaker.failTimes(5)
  breaker.clock.ms += 1_000
  assert.deepEqual([breaker.isFailing(), breaker.recoveries()], [false, 0])
  breaker.answer(breaker.begin())
  assert.deepEqual([breaker.isFailing(), breaker.recoveries()], [false, 1])
})

test('the probe that is answered puts the target back into use', () => {
  const breaker = create()
  breaker.failTimes(5)
  breaker.clock.ms += 1_000
  breaker.goWell()
  assert.deepEqual(look(breaker), ['closed', true])
  breaker.failTimes(4)
  assert.equal(breaker.state(), 'closed', 'the old failures are forgotten')
})

test('until a reply has come whole, one failure takes a target out again', () => {
  const breaker = create()
  breaker.failTimes(5)
  breaker.clock.ms += 1_000
  breaker.answer(breaker.begin())
  assert.equal(breaker.state(), 'closed')
  breaker.failTimes(1)
  assert.deepEqual(look(breaker), ['open', false])
})

test('what was sent before a target was taken out neither helps nor harms it', () => {
  const breaker = create()
  const sent = Array.from({ length: 20 }, () => breaker.begin())
  breaker.failTimes(5)
  const [answered, ...late] = sent as [number, ...number[]]
  breaker.answer(answered)
  breaker.succeed(answered)
  assert.equal(breaker.state(), 'open')
  breaker.clock.ms += 1_000
  breaker.goWell()
  for (const ticket of late) breaker.fail(ticket)
  assert.equal(breaker.state(), 'closed')
})

test('a probe whose client left makes room for another, a second after it began', () => {
  const breaker = create()
  breaker.failTimes(5)
  breaker.clock.ms += 1_000
  breaker.forget(breaker.begin())
  assert.equal(breaker.isReady(), false)
  breaker.clock.ms += 1_000
  assert.equal(breaker.isReady(), true)
})

test('the end of an older request makes no room for a second probe', () => {
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

test('a probe that ends before its answer is looked at still counts', () => {
  const breaker = create()
  breaker.failTimes(5)
  breaker.clock.ms += 1_000
  const probe = breaker.begin()
  breaker.forget(probe)
  breaker.answer(probe)
  assert.equal(breaker.state(), 'closed')
})
