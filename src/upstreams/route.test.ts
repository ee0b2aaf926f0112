// The route of a request over targets with real breakers, with a manual clock and timers.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createBreaker } from './breaker.ts'
import { createCooling } from './cooling.ts'
import type { Target } from './port.ts'
import { createRetryBudget } from './retry-budget.ts'
import { Route, type RouteTarget } from './route.ts'
import { createWaitQueue } from './wait-queue.ts'

function create(context: TestContext, names: readonly string[]) {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const now = { ms: 10_000 }
  const clock = { nowMs: () => now.ms, spanMs: () => now.ms }
  const [waitQueue, budget] = [createWaitQueue(clock), createRetryBudget()]
  const targets = names.map((name, i) => ({
    upstream: name,
    temperatureMax: 1,
    priority: i,
    salt: i,
    weight: 1,
    isDrained: false,
    breaker: createBreaker(clock.spanMs),
    cooling: createCooling(clock.spanMs),
    send: () => assert.fail('nothing is sent here'),
  }))
  const breakerOf = (target: Target | undefined) => (target as RouteTarget).breaker
  return {
    waitQueue,
    budget,
    targets,
    route: (model = 'large') =>
      new Route({ model, candidates: targets, conversation: 1, budget, waitQueue, clock }),
    pass(ms: number): void {
      now.ms += ms
      context.mock.timers.tick(ms)
    },
    /** Lets `times` requests to the target fail. */
    fail(target: Target | undefined, times = 1): void {
      const breaker = breakerOf(target)
      for (let i = 0; i < times; i++) breaker.fail(breaker.begin())
    },
    /** The target answers a request with 429. */
    coolDown(target: Target | undefined, askedMs: number): void {
      ;(target as RouteTarget).cooling.coolDown('large', askedMs)
    },
    /** The target answers a request; wakes waiting requests as upstreams.ts does. */
    answer(target: Target | undefined): void {
      const breaker = breakerOf(target)
      if (breaker.answer(breaker.begin())) waitQueue.wake()
    },
  }
}

/** What each wait has found: an upstream, `none`, or undefined while it still waits. */
async function seen(found: readonly Promise<Target | undefined>[]) {
  const pending = Symbol()
  const all = found.map((one) => Promise.race([one, Promise.resolve(pending)]))
  // A wait resolves a few microtasks after its last `find`.
  await new Promise((resolve) => setImmediate(resolve))
  return (await Promise.all(all.map((_, i) => Promise.race([found[i], pending])))).map((one) =>
    one === pending ? undefined : ((one as Target | undefined)?.upstream ?? 'none'),
  )
}

test('one waiting request probes each failing target, and all use the result', async (t) => {
  const on = create(t, ['a', 'b'])
  for (const target of on.targets) on.fail(target, 5)
  const routes = [on.route(), on.route(), on.route()]
  assert.deepEqual(
    routes.map((route) => route.next()),
    [undefined, undefined, undefined],
  )
  const found = routes.map((route) => route.wait().found)
  assert.deepEqual(await seen(found), [undefined, undefined, undefined])
  on.pass(999)
  assert.deepEqual(await seen(found), [undefined, undefined, undefined])
  on.pass(1)
  assert.deepEqual(await seen(found), ['a', 'b', undefined], 'one request probes each')
  on.answer(await found[1])
  assert.deepEqual(await seen(found), ['a', 'b', 'b'])
  assert.equal(on.waitQueue.size(), 0)
})

test('a probe that hangs does not stop further probes, one each second', async (t) => {
  const on = create(t, ['a', 'b'])
  on.fail(on.targets[0], 5)
  Object.assign(on.targets[1] ?? {}, { isDrained: true })
  on.pass(1_000)
  on.targets[0]?.breaker.begin()
  on.pass(600)
  const found = Array.from({ length: 4 }, () => on.route().wait().found)
  on.pass(399)
  assert.deepEqual(await seen(found), [undefined, undefined, undefined, undefined])
  on.pass(1)
  assert.deepEqual(await seen(found), ['a', undefined, undefined, undefined])
  on.pass(1_000)
  assert.deepEqual(await seen(found), ['a', 'a', undefined, undefined])
  on.pass(1_000)
  assert.deepEqual(await seen(found), ['a', 'a', 'a', undefined])
  on.pass(600)
  assert.deepEqual(await seen(found), ['a', 'a', 'a', 'none'], 'waits at most three seconds')
})

test('waits longer while a probe is under way', async (t) => {
  const on = create(t, ['a', 'b'])
  on.fail(on.targets[0], 5)
  Object.assign(on.targets[1] ?? {}, { isDrained: true })
  const found = [on.route(), on.route()].map((route) => route.wait().found)
  on.pass(1_000)
  const asked = await found[0]
  const breaker = (asked as RouteTarget).breaker
  const ticket = breaker.begin()
  on.pass(900)
  assert.deepEqual(await seen(found), ['a', undefined])
  if (breaker.answer(ticket)) on.waitQueue.wake()
  assert.deepEqual(await seen(found), ['a', 'a'])
})

test('waits a second and a half, then knows when the next probe is allowed', async (t) => {
  const on = create(t, ['a', 'b'])
  on.fail(on.targets[0], 5)
  Object.assign(on.targets[1] ?? {}, { isDrained: true })
  const [first, second] = [on.route(), on.route()]
  const found = [first.wait().found, second.wait().found]
  on.pass(1_000)
  assert.deepEqual(await seen(found), ['a', undefined])
  on.pass(499)
  assert.deepEqual(await seen(found), ['a', undefined])
  on.pass(1)
  assert.deepEqual(await seen(found), ['a', 'none'])
  assert.equal(second.retryAfterMs(), 500)
})

test('does not wait for drained targets', async (t) => {
  const on = create(t, ['a', 'b'])
  for (const target of on.targets) target.isDrained = true
  const drained = on.route()
  assert.deepEqual([drained.next(), await drained.wait().found], [undefined, undefined])
  assert.equal(drained.retryAfterMs(), undefined)
})

test('a waiting request continues as soon as the operator enables a target', async (t) => {
  const on = create(t, ['a', 'b'])
  on.fail(on.targets[0], 5)
  Object.assign(on.targets[1] ?? {}, { isDrained: true })
  const found = [on.route().wait().found]
  Object.assign(on.targets[1] ?? {}, { isDrained: false })
  on.waitQueue.wake()
  assert.deepEqual(await seen(found), ['b'])
})

test('an abandoned wait gets no target', async (t) => {
  const on = create(t, ['a', 'b'])
  for (const target of on.targets) on.fail(target, 5)
  const wait = on.route().wait()
  wait.abandon()
  on.pass(1_000)
  assert.deepEqual(await seen([wait.found]), ['none'])
  assert.equal(on.targets[0]?.breaker.isDue(), true, 'another request may probe it')
})

test('a request tries the same target again only after it has recovered', async (t) => {
  const on = create(t, ['a', 'b'])
  on.fail(on.targets[1], 5)
  on.pass(800)
  const route = on.route()
  const refusing = route.next()
  assert.equal(refusing?.upstream, 'a')
  on.fail(refusing, 4)
  assert.equal(route.next(), undefined)
  const first = route.wait().found
  assert.deepEqual(await seen([first]), [undefined], 'this request has tried a already')
  on.pass(200)
  assert.deepEqual(await seen([first]), ['b'])
  on.fail(on.targets[1])
  on.fail(refusing)
  const again = route.wait().found
  on.pass(100)
  assert.deepEqual(await seen([again]), [undefined])
  on.answer(refusing)
  assert.deepEqual(await seen([again]), ['a'])
})

test('a request that always fails ends', async (t) => {
  const on = create(t, ['a', 'b'])
  for (const target of on.targets) on.fail(target, 5)
  const route = on.route()
  const asked: string[] = []
  for (let i = 0; i < 100; i++) {
    const wait = route.wait()
    // Every attempt takes a minute, after which every target may be probed again.
    on.pass(1_000)
    const target = await wait.found
    if (target === undefined) break
    asked.push(target.upstream)
    on.pass(60_000)
    on.fail(target)
  }
  assert.deepEqual(asked, ['a', 'b'])
})

test('only retries at a failing target take from the budget', (t) => {
  const on = create(t, ['a', 'b', 'c'])
  while (on.budget.take());
  on.fail(on.targets[1])
  const route = on.route()
  assert.equal(route.next()?.upstream, 'a')
  assert.equal(route.next()?.upstream, 'c', 'b is failing, and the retry budget is empty')
  on.budget.earn()
  on.budget.earn()
  assert.equal(route.next()?.upstream, 'b')
})

test('the only target is tried although its breaker is open, without waiting', async (t) => {
  const on = create(t, ['only'])
  on.fail(on.targets[0], 5)
  const route = on.route()
  assert.equal(route.next()?.upstream, 'only')
  assert.deepEqual(await seen([route.wait().found]), ['none'])
})

test('when all targets cool down, tries the first to be free, once and at once', async (t) => {
  const on = create(t, ['a', 'b', 'c'])
  ;[30_000, 20_000, 40_000].forEach((askedMs, i) => {
    on.coolDown(on.targets[i], askedMs)
  })
  while (on.budget.take());
  const route = on.route()
  assert.equal(route.next()?.upstream, 'b', 'the first attempt takes nothing from the budget')
  on.coolDown(on.targets[1], 25_000)
  assert.deepEqual([route.next(), await seen([route.wait().found])], [undefined, ['none']])
  assert.equal(on.route('small').next()?.upstream, 'a', 'targets cool down for one model only')
})

test('trying a cooling target after failures takes from the budget', async (t) => {
  const on = create(t, ['a', 'b', 'c'])
  on.coolDown(on.targets[0], 30_000)
  on.coolDown(on.targets[1], 20_000)
  const route = on.route()
  assert.equal(route.next()?.upstream, 'c')
  on.fail(on.targets[2])
  const before = on.budget.left()
  assert.equal(route.next()?.upstream, 'b')
  assert.equal(on.budget.left(), before - 1)
  assert.equal(route.next(), undefined, 'a cools down longer than b, so it is not tried')
  while (on.budget.take());
  const late = on.route()
  assert.equal(late.next()?.upstream, 'c')
  assert.deepEqual([late.next(), await seen([late.wait().found])], [undefined, ['none']])
})

test('a failing target that also cools down is probed once a second', async (t) => {
  const on = create(t, ['a', 'b'])
  for (const target of on.targets) {
    on.fail(target, 5)
    on.coolDown(target, 30_000)
  }
  const routes = [on.route(), on.route(), on.route()]
  assert.deepEqual(
    routes.map((route) => route.next()),
    [undefined, undefined, undefined],
  )
  const found = routes.map((route) => route.wait().found)
  on.pass(1_000)
  assert.deepEqual(await seen(found), ['a', 'b', undefined])
  on.pass(500)
  assert.deepEqual(await seen(found), ['a', 'b', 'none'])
  assert.equal(routes[2]?.retryAfterMs(), 28_500)
  assert.deepEqual(await seen([routes[0]?.wait().found ?? assert.fail()]), ['none'])
})
