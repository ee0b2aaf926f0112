// The route of a request over targets with real state, with a manual clock and timers.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { BookId } from '../platform/ids.ts'
import { Capacity } from './capacity.ts'
import type { Target } from './port.ts'
import { createRetryBudget } from './retry-budget.ts'
import { Route, type RouteTarget } from './route.ts'
import { createStanding } from './standing.ts'
import { createWaitQueue } from './wait-queue.ts'

const [ONE, OTHER, THIRD] = [1n, 2n, 3n] as [BookId, BookId, BookId]

function create(context: TestContext, names: readonly string[]) {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const now = { ms: 10_000 }
  const clock = { nowMs: () => now.ms, spanMs: () => now.ms }
  const [waitQueue, budget] = [createWaitQueue(clock), createRetryBudget()]
  const targets = names.map((name, i) => createTarget(name, i, clock.spanMs))
  const capacityOf = (target: Target | undefined) => (target as RouteTarget).capacityOf('large')
  return {
    waitQueue,
    budget,
    targets,
    route: (book = ONE, model = 'large') =>
      new Route({
        ...{ book, model, candidates: targets, conversation: 1, budget, waitQueue, clock },
        group: model,
      }),
    /** All targets that a request would try now, in order. */
    all(book = ONE, model = 'large'): string[] {
      const route = this.route(book, model)
      const found: string[] = []
      for (let one = route.next(); one !== undefined; one = route.next()) found.push(one.upstream)
      return found
    },
    pass(ms: number): void {
      now.ms += ms
      context.mock.timers.tick(ms)
    },
    /** Lets requests of two accounts to the target fail. */
    fail(target: Target | undefined, times = 5): void {
      const { breaker } = capacityOf(target)
      for (let i = 0; i < times; i++) {
        breaker.fail(breaker.begin(), { book: i % 2 === 0 ? ONE : OTHER, bodyHash: i })
      }
    },
    /** The target asks these accounts for a pause. */
    coolDown(target: Target | undefined, askedMs: number, books = [ONE, OTHER]): void {
      for (const book of books) capacityOf(target).cooling.coolDown(book, askedMs)
    },
    /** The target takes only as many requests as it has, one at least. */
    fill(target: Target | undefined): void {
      capacityOf(target).concurrency.begin()
      capacityOf(target).concurrency.cut(now.ms + 600_000)
    },
    empty(target: Target | undefined): void {
      capacityOf(target).concurrency.end()
      waitQueue.wakeOne('large')
    },
    /** Nearly nothing is left of the target's limit. */
    lower: (target: Target | undefined) =>
      capacityOf(target).limits.learn(
        {
          'anthropic-ratelimit-requests-limit': '100',
          'anthropic-ratelimit-requests-remaining': '1',
          'anthropic-ratelimit-requests-reset': new Date(now.ms + 60_000).toISOString(),
        },
        now.ms,
      ),
  }
}

function createTarget(name: string, i: number, nowMs: () => number) {
  const standing = createStanding(nowMs, () => 1)
  const capacities = new Map<string, Capacity>()
  return {
    label: `${name}#1`,
    upstream: name,
    temperatureMax: 1,
    priority: i,
    salt: i,
    weight: 1,
    isDrained: false,
    standing,
    capacityOf(model: string): Capacity {
      const made = () => new Capacity(nowMs, { standing, connections: 64, paid: () => undefined })
      const found = capacities.get(model) ?? made()
      capacities.set(model, found)
      return found
    },
    send: () => assert.fail('nothing is sent here'),
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

test('goes in order, and leaves a sick target out but for one probe a second', (t) => {
  const on = create(t, ['a', 'b'])
  assert.deepEqual(on.all(), ['a', 'b'])
  on.fail(on.targets[0])
  assert.equal(on.route().next()?.upstream, 'b')
  on.pass(1_000)
  assert.equal(on.route().next()?.upstream, 'a', 'the probe')
  assert.equal(on.route().next()?.upstream, 'b')
})

test('when all look sick they are tried all the same, one or several', (t) => {
  for (const names of [['only'], ['a', 'b', 'c']]) {
    t.mock.timers.reset()
    const on = create(t, names)
    for (const target of on.targets) on.fail(target)
    for (let i = 0; i < 10; i++) assert.deepEqual(on.all(), names)
    while (on.budget.take(ONE));
    assert.deepEqual(on.all(), names.slice(0, 1), 'only retries take from the budget')
  }
})

test('a target near its limit is tried after the others, but before one that is sick', (t) => {
  const on = create(t, ['a', 'b', 'c'])
  on.lower(on.targets[0])
  on.fail(on.targets[1])
  assert.deepEqual(on.all(), ['c', 'a', 'b'])
  on.pass(10_000)
  assert.equal(on.route().next()?.upstream, 'a', 'its limit has refilled')
})

test('a pause applies to one model', (t) => {
  const on = create(t, ['a', 'b'])
  on.coolDown(on.targets[0], 30_000)
  assert.deepEqual([on.all(ONE)[0], on.all(ONE, 'small')[0]], ['b', 'a'])
})

test('a pause that one account got applies to that account', (t) => {
  const on = create(t, ['a', 'b'])
  on.coolDown(on.targets[0], 30_000, [ONE])
  assert.deepEqual([on.all(ONE)[0], on.all(OTHER)[0]], ['b', 'a'])
  on.coolDown(on.targets[0], 30_000, [OTHER])
  assert.deepEqual([on.all(OTHER)[0], on.all(THIRD)[0]], ['b', 'b'])
})

test('while all cool down, the first to be free is tried once a second', async (t) => {
  const on = create(t, ['a', 'b', 'c'])
  for (const [i, askedMs] of [30_000, 20_000, 40_000].entries()) {
    on.coolDown(on.targets[i], askedMs)
  }
  const refused = on.route()
  assert.deepEqual([refused.next(), await seen([refused.wait().found])], [undefined, ['none']])
  assert.equal(refused.retryAfterMs(), 20_000)
  on.pass(1_000)
  assert.equal(on.route().next(), undefined, 'who caused the pause lets others go first')
  const probe = on.route(THIRD)
  assert.equal(probe.next()?.upstream, 'b')
  assert.equal(probe.next(), undefined, 'the others asked for more')
  assert.equal(on.route(THIRD).next(), undefined)
  on.pass(1_500)
  assert.equal(on.route().next()?.upstream, 'b')
})

test('a probe that prolongs the pause of its target makes no other one due', (t) => {
  const on = create(t, ['a', 'b', 'c'])
  for (const target of on.targets) on.coolDown(target, 30_000)
  const probed: string[] = []
  for (let ms = 0; ms < 6_000; ms += 100) {
    const probe = on.route(THIRD).next()
    if (probe !== undefined) {
      probed.push(probe.upstream)
      on.coolDown(probe, 30_000)
    }
    on.pass(100)
  }
  assert.deepEqual(probed, ['a', 'b', 'c', 'a', 'b'], 'one a second, over all targets')
})

test('a short pause is waited for, also at a target that was tried', async (t) => {
  const on = create(t, ['a', 'b'])
  const route = on.route()
  for (const name of ['a', 'b']) assert.equal(route.next()?.upstream, name)
  on.coolDown(on.targets[0], 1_000)
  on.coolDown(on.targets[1], 30_000)
  assert.equal(route.next(), undefined)
  const found = route.wait().found
  on.pass(999)
  assert.deepEqual(await seen([found]), [undefined])
  on.pass(1)
  assert.deepEqual(await seen([found]), ['a'])
  on.coolDown(on.targets[0], 1_000)
  assert.equal(route.next(), undefined)
  assert.deepEqual(await seen([route.wait().found]), ['none'], 'a second and a half in all')
})

test('a full target is tried after the others; a request waits for room, then goes', async (t) => {
  const on = create(t, ['a', 'b'])
  on.fill(on.targets[0])
  assert.equal(on.route().next()?.upstream, 'b')
  on.fill(on.targets[1])
  const routes = [on.route(), on.route()]
  assert.deepEqual(
    routes.map((route) => route.next()),
    [undefined, undefined],
  )
  const found = routes.map((route) => route.wait().found)
  on.empty(on.targets[1])
  assert.deepEqual(await seen(found), ['b', undefined], 'room for one')
  on.targets[1]?.capacityOf('large').concurrency.begin()
  on.pass(1_499)
  assert.deepEqual(await seen(found), ['b', undefined])
  on.pass(1)
  assert.deepEqual(await seen(found), ['b', 'a'], 'it is never refused for that alone')
})

test('a credential that is out of service is tried once a minute', (t) => {
  const on = create(t, ['a', 'b'])
  on.targets[0]?.standing.leave(ONE, 'unpaid')
  assert.deepEqual([on.all(), on.all(ONE, 'small')], [['b'], ['b']])
  on.pass(60_000)
  assert.equal(on.route().next()?.upstream, 'a')
  assert.equal(on.route().next()?.upstream, 'b')
})

test('when all credentials are out of service, they are tried all the same', (t) => {
  const on = create(t, ['a', 'b'])
  for (const target of on.targets) target.standing.leave(ONE, 'unpaid')
  assert.deepEqual(on.all(), ['a', 'b'])
})

test('a pause is better than a credential that is out of service', (t) => {
  const on = create(t, ['a', 'b'])
  on.targets[0]?.standing.leave(ONE, 'unpaid')
  on.coolDown(on.targets[1], 30_000)
  const route = on.route()
  assert.deepEqual([route.next(), route.retryAfterMs()], [undefined, 30_000])
})

test('a model that is forbidden to a credential is avoided for that model', (t) => {
  const on = create(t, ['a', 'b'])
  on.targets[0]?.capacityOf('large').forbid(ONE)
  assert.deepEqual([on.all(ONE)[0], on.all(OTHER)[0], on.all(ONE, 'small')[0]], ['b', 'a', 'a'])
  on.targets[0]?.capacityOf('large').forbid(OTHER)
  assert.equal(on.all(THIRD)[0], 'b')
})

test('does not wait for drained targets', async (t) => {
  const on = create(t, ['a', 'b'])
  for (const target of on.targets) target.isDrained = true
  const drained = on.route()
  assert.deepEqual([drained.next(), await drained.wait().found], [undefined, undefined])
  assert.equal(drained.retryAfterMs(), undefined)
})

test('a waiting request goes on as soon as the operator enables a target', async (t) => {
  const on = create(t, ['a', 'b'])
  on.coolDown(on.targets[0], 1_400)
  Object.assign(on.targets[1] ?? {}, { isDrained: true })
  const found = [on.route().wait().found]
  Object.assign(on.targets[1] ?? {}, { isDrained: false })
  on.waitQueue.wake()
  assert.deepEqual(await seen(found), ['b'])
})

test('an abandoned wait gets no target', async (t) => {
  const on = create(t, ['a'])
  on.coolDown(on.targets[0], 1_000)
  const wait = on.route().wait()
  wait.abandon()
  on.pass(1_000)
  assert.deepEqual(await seen([wait.found]), ['none'])
  assert.equal(on.waitQueue.size(), 0)
})

test('a retry at a failing target takes from the budget, and goes after the others', (t) => {
  const on = create(t, ['a', 'b', 'c'])
  on.fail(on.targets[1], 2)
  assert.deepEqual(on.all(), ['a', 'c', 'b'])
  while (on.budget.take(ONE));
  assert.deepEqual(on.all(), ['a', 'c'])
})

test('a wait for a failing target takes from the retry budget', async (context) => {
  const world = create(context, ['a', 'b'])
  const [a, b] = world.targets
  world.fail(b, 2)
  while (world.budget.take(ONE));
  const route = world.route()
  assert.equal(route.next(), a)
  assert.equal(route.next(), undefined)
  const wait = route.wait()
  world.pass(2_000)
  assert.equal(await wait.found, undefined)
})

test('a wait takes from the retry budget only when a target is tried again', async (t) => {
  const on = create(t, ['a', 'b'])
  const left = () => {
    let count = 0
    while (on.budget.take(ONE)) count += 1
    for (let i = 0; i < 2 * count; i++) on.budget.earn(ONE)
    return count
  }
  /** A request that both targets asked for a pause of a second. */
  const waits = () => {
    const route = on.route()
    for (const name of ['a', 'b']) assert.equal(route.next()?.upstream, name)
    for (const target of on.targets) on.coolDown(target, 1_000)
    return route.wait()
  }
  const before = left()
  waits().abandon()
  assert.equal(left(), before, 'its client left')
  on.pass(1_000)
  const { found } = waits()
  on.pass(1_000)
  assert.deepEqual(await seen([found]), ['a'])
  assert.equal(left(), before - 1)
})

test('one account’s retries leave the others theirs', (t) => {
  const on = create(t, ['a', 'b'])
  for (const target of on.targets) on.fail(target)
  while (on.budget.take(ONE));
  assert.deepEqual([on.all(ONE), on.all(OTHER)], [['a'], ['a', 'b']])
})

test('two accounts whose requests are always limited do not stop a third', (t) => {
  const on = create(t, ['a', 'b'])
  const served: boolean[] = []
  for (let ms = 0; ms < 60_000; ms += 10) {
    for (const book of [ONE, OTHER]) {
      const route = on.route(book)
      // Their prompts are longer than our limit for long ones: each target answers 429.
      for (let one = route.next(); one !== undefined; one = route.next()) {
        on.coolDown(one, 30_000, [book])
      }
    }
    if (ms % 100 === 0) {
      const target = on.route(THIRD).next() as RouteTarget | undefined
      target?.capacityOf('large').serve(THIRD, 10_000 + ms)
      served.push(target !== undefined)
    }
    on.pass(10)
  }
  const share = served.filter(Boolean).length / served.length
  assert.ok(share > 0.97, `${share} of the third account’s requests were sent`)
})
