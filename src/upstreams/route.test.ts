// One request's way over targets with real breakers, with the clock and its timers turned by hand.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createBreaker } from './breaker.ts'
import { createRetryBudget } from './budget.ts'
import { createCooling } from './cooling.ts'
import type { Target } from './port.ts'
import { type Known, Route } from './route.ts'
import { createWaiting } from './waiting.ts'

function create(context: TestContext, names: readonly string[]) {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const now = { ms: 10_000 }
  const clock = { nowMs: () => now.ms, spanMs: () => now.ms }
  const [waiting, budget] = [createWaiting(clock), createRetryBudget()]
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
  const breakerOf = (target: Target | undefined) => (target as Known).breaker
  return {
    waiting,
    budget,
    targets,
    route: (model = 'large') =>
      new Route({ model, fit: targets, conversation: 1, budget, waiting, clock }),
    pass(ms: number): void {
      now.ms += ms
      context.mock.timers.tick(ms)
    },
    /** So many requests go there and fail. */
    fail(target: Target | undefined, times = 1): void {
      const breaker = breakerOf(target)
      for (let i = 0; i < times; i++) breaker.fail(breaker.begin())
    },
    /** A request goes there and is limited. */
    coolDown(target: Target | undefined, askedMs: number): void {
      ;(target as Known).cooling.coolDown('large', askedMs)
    },
    /** A request goes there and is answered, as the door tells it. */
    answer(target: Target | undefined): void {
      const breaker = breakerOf(target)
      if (breaker.answer(breaker.begin())) waiting.wake()
    },
  }
}

/** Who waits, and what each has found: a name, `none`, or undefined as long as it waits. */
async function seen(found: readonly Promise<Target | undefined>[]) {
  const pending = Symbol()
  const all = found.map((one) => Promise.race([one, Promise.resolve(pending)]))
  // A wait ends some turns of the promise queue after its look.
  await new Promise((resolve) => setImmediate(resolve))
  return (await Promise.all(all.map((_, i) => Promise.race([found[i], pending])))).map((one) =>
    one === pending ? undefined : ((one as Target | undefined)?.upstream ?? 'none'),
  )
}

test('of all that have nowhere to go one asks the sick target, for all', async (t) => {
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
  assert.deepEqual(await seen(found), ['a', 'b', undefined], 'each is asked by one')
  on.answer(await found[1])
  assert.deepEqual(await seen(found), ['a', 'b', 'b'])
  assert.equal(on.waiting.size(), 0)
})

test('a probe that hangs keeps nobody from asking a second later, one each second', async (t) => {
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
  assert.deepEqual(await seen(found), ['a', 'a', 'a', 'none'], 'three seconds are the most')
})

test('an answer that is on its way is waited for a little longer', async (t) => {
  const on = create(t, ['a', 'b'])
  on.fail(on.targets[0], 5)
  Object.assign(on.targets[1] ?? {}, { isDrained: true })
  const found = [on.route(), on.route()].map((route) => route.wait().found)
  on.pass(1_000)
  const asked = await found[0]
  const breaker = (asked as Known).breaker
  const ticket = breaker.begin()
  on.pass(900)
  assert.deepEqual(await seen(found), ['a', undefined])
  if (breaker.answer(ticket)) on.waiting.wake()
  assert.deepEqual(await seen(found), ['a', 'a'])
})

test('a request waits a second and a half, and is told when the next target is due', async (t) => {
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

test('nobody waits for the operator', async (t) => {
  const on = create(t, ['a', 'b'])
  for (const target of on.targets) target.isDrained = true
  const drained = on.route()
  assert.deepEqual([drained.next(), await drained.wait().found], [undefined, undefined])
  assert.equal(drained.retryAfterMs(), undefined)
})

test('who waits goes as soon as the operator lets a target back in', async (t) => {
  const on = create(t, ['a', 'b'])
  on.fail(on.targets[0], 5)
  Object.assign(on.targets[1] ?? {}, { isDrained: true })
  const found = [on.route().wait().found]
  Object.assign(on.targets[1] ?? {}, { isDrained: false })
  on.waiting.wake()
  assert.deepEqual(await seen(found), ['b'])
})

test('who left is not given a target', async (t) => {
  const on = create(t, ['a', 'b'])
  for (const target of on.targets) on.fail(target, 5)
  const wait = on.route().wait()
  wait.abandon()
  on.pass(1_000)
  assert.deepEqual(await seen([wait.found]), ['none'])
  assert.equal(on.targets[0]?.breaker.isDue(), true, 'its turn is another one’s')
})

test('a target that refused a request is asked again only once it is well again', async (t) => {
  const on = create(t, ['a', 'b'])
  on.fail(on.targets[1], 5)
  on.pass(800)
  const route = on.route()
  const refusing = route.next()
  assert.equal(refusing?.upstream, 'a')
  on.fail(refusing, 4)
  assert.equal(route.next(), undefined)
  const sick = route.wait().found
  assert.deepEqual(await seen([sick]), [undefined], 'a is in use, but has refused it')
  on.pass(200)
  assert.deepEqual(await seen([sick]), ['b'])
  on.fail(on.targets[1])
  on.fail(refusing)
  const again = route.wait().found
  on.pass(100)
  assert.deepEqual(await seen([again]), [undefined])
  on.answer(refusing)
  assert.deepEqual(await seen([again]), ['a'])
})

test('a request that is refused again and again ends', async (t) => {
  const on = create(t, ['a', 'b'])
  for (const target of on.targets) on.fail(target, 5)
  const route = on.route()
  const asked: string[] = []
  for (let i = 0; i < 100; i++) {
    const wait = route.wait()
    // Every attempt takes a minute, so that every target is due again after it.
    on.pass(1_000)
    const target = await wait.found
    if (target === undefined) break
    asked.push(target.upstream)
    on.pass(60_000)
    on.fail(target)
  }
  assert.deepEqual(asked, ['a', 'b'])
})

test('repeats on a failing target are within the budget, others are not counted', (t) => {
  const on = create(t, ['a', 'b', 'c'])
  while (on.budget.take());
  on.fail(on.targets[1])
  const route = on.route()
  assert.equal(route.next()?.upstream, 'a')
  assert.equal(route.next()?.upstream, 'c', 'b fails, and may not be burdened further')
  on.budget.earn()
  on.budget.earn()
  assert.equal(route.next()?.upstream, 'b')
})

test('the only target there is is asked though it is sick, and not waited for', async (t) => {
  const on = create(t, ['only'])
  on.fail(on.targets[0], 5)
  const route = on.route()
  assert.equal(route.next()?.upstream, 'only')
  assert.deepEqual(await seen([route.wait().found]), ['none'])
})

test('of all that cool down the one that is free soonest is asked, once and at once', async (t) => {
  const on = create(t, ['a', 'b', 'c'])
  ;[30_000, 20_000, 40_000].forEach((askedMs, i) => {
    on.coolDown(on.targets[i], askedMs)
  })
  while (on.budget.take());
  const route = on.route()
  assert.equal(route.next()?.upstream, 'b', 'the first request to it is no repeat')
  on.coolDown(on.targets[1], 25_000)
  assert.deepEqual([route.next(), await seen([route.wait().found])], [undefined, ['none']])
  assert.equal(on.route('small').next()?.upstream, 'a', 'another model goes its own way')
})

test('where others fail, one that cools down is a repeat within the budget', async (t) => {
  const on = create(t, ['a', 'b', 'c'])
  on.coolDown(on.targets[0], 30_000)
  on.coolDown(on.targets[1], 20_000)
  const route = on.route()
  assert.equal(route.next()?.upstream, 'c')
  on.fail(on.targets[2])
  const before = on.budget.left()
  assert.equal(route.next()?.upstream, 'b')
  assert.equal(on.budget.left(), before - 1)
  assert.equal(route.next(), undefined, 'a asked to be left alone for longer than b')
  while (on.budget.take());
  const late = on.route()
  assert.equal(late.next()?.upstream, 'c')
  assert.deepEqual([late.next(), await seen([late.wait().found])], [undefined, ['none']])
})

test('one that is sick and cools down is asked once a second, and is due when free', async (t) => {
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
