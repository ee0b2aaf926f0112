// The entry file on a real database and real stand-ins: which targets are tried for a model, in
// which order, and how the operator's changes arrive while requests are served.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startVendor, type Vendor } from '../../stand-ins/vendor/vendor.ts'
import { upstreamDefaults } from '../../test/stages/data-plane.ts'
import { createTestDatabase, quiet, type TestDatabase } from '../../test/support/harness.ts'
import { systemClock } from '../platform/clock.ts'
import { type BookId, newInstanceId } from '../platform/ids.ts'
import { createLog } from '../platform/log.ts'
import { Masked } from '../platform/masked.ts'
import type { Target, UpstreamPath } from './port.ts'
import { createUpstreams, type UpstreamOptions, type Upstreams } from './upstreams.ts'

const at = {
  database: undefined as unknown as TestDatabase,
  vendor: undefined as unknown as Vendor,
}

before(async () => {
  at.database = await createTestDatabase()
  at.vendor = await startVendor({})
})
after(async () => {
  await at.vendor.close()
  await at.database.drop()
})

type Given = Partial<Omit<UpstreamOptions, 'keys'>> & { name: string; keys?: string[] }

/** The upstreams of one process, with a manual clock. */
function create(given: Given[], changes: Partial<Parameters<typeof createUpstreams>[0]> = {}) {
  const clock = { ms: 0 }
  const upstreams = createUpstreams({
    upstreams: given.map(({ keys, ...one }) => ({
      ...upstreamDefaults,
      url: at.vendor.url,
      connections: 16,
      headersTimeoutMs: 5_000,
      streamHeadersTimeoutMs: 5_000,
      idleTimeoutMs: 5_000,
      keys: (keys ?? [at.vendor.keys[0] as string]).map((key) => new Masked(key)),
      ...one,
    })),
    db: at.database.db,
    instance: newInstanceId(),
    clock: { nowMs: () => clock.ms, spanMs: () => clock.ms },
    log: quiet,
    ...changes,
  })
  return { ...upstreams, clock }
}

type Routes = Pick<Upstreams, 'route'>

/** All targets that a request would try now, in order. */
function targetsOf(
  upstreams: Routes,
  model = 'any',
  path: UpstreamPath = '/v1/messages',
): Target[] {
  const route = upstreams.route(path, model, 1)
  const found: Target[] = []
  for (let one = route.next(); one !== undefined; one = route.next()) found.push(one)
  return found
}

const route = (upstreams: Routes, model?: string, path?: UpstreamPath) =>
  targetsOf(upstreams, model, path).map((one) => one.upstream)

/** The target that a request tries first. */
const first = (upstreams: Routes, path: UpstreamPath = '/v1/messages') =>
  upstreams.route(path, 'any', 1).next()

/** One request to a target, reported as the relay reports it. */
async function ask(
  target: Target | undefined,
  how: 'answer' | 'fail' | 'coolDown' | 'leave',
): Promise<void> {
  assert.ok(target !== undefined)
  const over = Promise.withResolvers<void>()
  const { call, outcome } = target.send(
    {
      book: 1n as BookId,
      holder: { onShed: undefined },
      model: 'any',
      path: '/v1/messages',
      headers: [],
      body: [Buffer.from('{}')],
      isStream: false,
      untilMs: Number.POSITIVE_INFINITY,
    },
    { head: () => undefined, data: () => undefined, end: over.resolve, fail: over.reject },
  )
  await over.promise
  if (how === 'answer') outcome.finish()
  if (how !== 'leave') outcome[how]()
  call.abort()
  outcome.end()
}

test('a request goes to the targets that serve its model, by priority', async () => {
  const upstreams = create([
    { name: 'reserve', priority: 2 },
    { name: 'large-only', models: ['large'], priority: 1 },
    { name: 'last', priority: 9, models: ['small', 'large'] },
  ])
  assert.deepEqual(route(upstreams, 'large'), ['large-only', 'reserve', 'last'])
  assert.deepEqual(route(upstreams, 'small'), ['reserve', 'last'])
  assert.deepEqual(route(upstreams, 'other'), ['reserve'])
  await upstreams.close()
})

test('each credential of an upstream is a separate target', async () => {
  const upstreams = create([{ name: 'a', keys: ['one', 'two', 'three'] }])
  assert.equal(targetsOf(upstreams).length, 3)
  assert.deepEqual(
    upstreams.views().map((view) => view.target),
    ['a#1', 'a#2', 'a#3'],
  )
  await upstreams.close()
})

test('a failing target is left out, and the others serve its conversations', async () => {
  const upstreams = create([{ name: 'a' }, { name: 'b' }, { name: 'c', priority: 2 }])
  const [home, other] = route(upstreams) as [string, string]
  for (let i = 0; i < 5; i++) await ask(first(upstreams), 'fail')
  assert.deepEqual(route(upstreams), [other, 'c'])
  const seen = upstreams.views().find((view) => view.target === `${home}#1`)
  assert.deepEqual(seen, {
    target: `${home}#1`,
    state: 'open',
    underWay: 0,
    succeeded: 0,
    failed: 5,
  })
  upstreams.clock.ms += 1_000
  assert.deepEqual(route(upstreams), [home, other, 'c'], 'one request may ask it again')
  assert.deepEqual(route(upstreams), [other, 'c'], 'and only one')
  upstreams.clock.ms += 1_000
  await ask(first(upstreams), 'answer')
  assert.deepEqual(route(upstreams), [home, other, 'c'])
  await upstreams.close()
})

test('a target that fails when the request begins may have recovered at its turn', async () => {
  const upstreams = create([{ name: 'a' }, { name: 'b', priority: 2 }])
  const [, reserve] = targetsOf(upstreams)
  for (let i = 0; i < 5; i++) await ask(reserve, 'fail')
  const walk = upstreams.route('/v1/messages', 'any', 1)
  assert.equal(walk.next()?.upstream, 'a')
  upstreams.clock.ms += 1_000
  assert.equal(walk.next()?.upstream, 'b')
  await upstreams.close()
})

test('outcomes on the free path do not change the paid path', async () => {
  const free: UpstreamPath = '/v1/messages/count_tokens'
  const upstreams = create([
    { name: 'a', priority: 1 },
    { name: 'b', priority: 2 },
  ])
  for (let i = 0; i < 5; i++) await ask(first(upstreams, free), 'fail')
  await ask(first(upstreams, free), 'coolDown')
  assert.deepEqual([route(upstreams), route(upstreams, 'any', free)], [['a', 'b'], ['b']])
  await upstreams.close()
})

test('free requests neither use the retries of paid ones nor earn any for them', async () => {
  const free: UpstreamPath = '/v1/messages/count_tokens'
  const upstreams = create([
    { name: 'a', priority: 1 },
    { name: 'b', priority: 2 },
  ])
  // Both fail on both paths, so that trying b after a is a retry.
  for (const path of ['/v1/messages', free] as const) {
    for (const target of targetsOf(upstreams, 'any', path)) await ask(target, 'fail')
  }
  /** How many of `count` requests may be retried. */
  const retries = (count: number, path?: UpstreamPath) =>
    Array.from({ length: count }, () => route(upstreams, 'any', path)).filter(
      (targets) => targets.length > 1,
    ).length
  assert.ok(retries(400, free) < 400, 'the free path has used up its own')
  assert.equal(retries(100), 100)
  assert.ok(retries(400) < 400, 'and so has the paid one')
  retries(400, free)
  assert.equal(retries(10), 5)
  await upstreams.close()
})

test('the free path avoids targets that are down on the paid path, without probing', async () => {
  const free: UpstreamPath = '/v1/messages/count_tokens'
  const upstreams = create([
    { name: 'a', priority: 1 },
    { name: 'b', priority: 2 },
  ])
  const [a, b] = targetsOf(upstreams)
  for (let i = 0; i < 5; i++) await ask(a, 'fail')
  upstreams.clock.ms += 1_000
  assert.deepEqual(route(upstreams, 'any', free), ['b'])
  for (let i = 0; i < 5; i++) await ask(b, 'fail')
  const counting = upstreams.route(free, 'any', 1)
  assert.equal(counting.next(), undefined)
  await ask(await counting.wait().found, 'answer')
  const states = () => upstreams.views().map(({ state }) => state)
  assert.deepEqual(states(), ['open', 'open'])
  assert.equal(first(upstreams)?.upstream, 'a', 'the turn to probe is still there')
  await upstreams.close()
})

test('a 429 neither closes nor blocks an open breaker: the next request probes again', async () => {
  const upstreams = create([
    { name: 'a', priority: 1 },
    { name: 'b', priority: 2 },
  ])
  for (let i = 0; i < 5; i++) await ask(first(upstreams), 'fail')
  upstreams.clock.ms += 1_000
  await ask(first(upstreams), 'coolDown')
  assert.equal(upstreams.views()[0]?.state, 'open')
  upstreams.clock.ms += 1_000
  await ask(first(upstreams), 'answer')
  assert.equal(upstreams.views()[0]?.state, 'closed')
  await upstreams.close()
})

test('a request whose client left does not count against the target', async () => {
  const upstreams = create([{ name: 'a' }])
  for (let i = 0; i < 5; i++) {
    await ask(first(upstreams), 'leave')
  }
  assert.deepEqual(upstreams.views()[0], {
    target: 'a#1',
    state: 'closed',
    underWay: 0,
    succeeded: 0,
    failed: 0,
  })
  await upstreams.close()
})

test('a request is sent with our credential, under the path of the URL', async () => {
  const upstreams = create([
    { name: 'a', url: `${at.vendor.url}/base`, keys: [at.vendor.keys[1] as string] },
  ])
  at.vendor.clear()
  await ask(first(upstreams), 'answer')
  const [request] = at.vendor.requests
  assert.equal(request?.url, '/base/v1/messages')
  const { rawHeaders } = request
  assert.equal(rawHeaders[rawHeaders.indexOf('x-api-key') + 1], at.vendor.keys[1])
  await upstreams.close()
})

test('our credentials and the names of our account are removed from texts', async () => {
  const upstreams = create([
    { name: 'a', keys: ['key-one'] },
    { name: 'b', keys: ['key-two'] },
  ])
  const headers = { 'anthropic-organization-id': 'org-77' }
  assert.equal(
    upstreams.withoutSecrets('key-one of org-77, not key-two; key-one', headers),
    '*** of ***, not ***; ***',
  )
  await upstreams.close()
})

test('the operator’s changes replace the configuration, also after a restart', async () => {
  const given = [{ name: 'one' }, { name: 'two', weight: 0 }]
  const running = create(given)
  await running.start()
  assert.deepEqual(route(running), ['one'], 'weight 0 is left out')
  await running.change({ name: 'two', weight: 4, isDrained: null, by: 'test' })
  await running.change({ name: 'one', weight: null, isDrained: true, by: 'test' })
  await running.close()
  const restarted = create(given)
  await restarted.start()
  assert.deepEqual(route(restarted), ['two'])
  const settings = await restarted.settings()
  assert.deepEqual(
    settings.map(({ name, weight, isDrained, changedBy }) => [name, weight, isDrained, changedBy]),
    [
      ['one', null, true, 'test'],
      ['two', 4, false, 'test'],
    ],
  )
  await restarted.close()
})

test('a running process reads the operator’s changes', async (context) => {
  context.mock.timers.enable({ apis: ['setInterval'] })
  const running = create([{ name: 'left' }, { name: 'right' }])
  const operator = create([{ name: 'left' }, { name: 'right' }])
  await running.start()
  /** Advances the timer until the route is this one. */
  const becomes = async (expected: string[]) => {
    for (let look = 0; look < 500; look++) {
      context.mock.timers.tick(2_000)
      await running.settings()
      if (String(route(running).sort()) === String(expected)) return
    }
    assert.fail(`the route stays ${route(running)}, not ${expected}`)
  }
  assert.deepEqual(route(running).sort(), ['left', 'right'])
  await operator.change({ name: 'left', weight: null, isDrained: true, by: 'test' })
  await becomes(['right'])
  await operator.change({ name: 'right', weight: 0, isDrained: null, by: 'test' })
  await becomes([])
  await operator.change({ name: 'left', weight: null, isDrained: false, by: 'test' })
  await becomes(['left'])
  await operator.change({ name: 'right', weight: 5, isDrained: null, by: 'test' })
  await becomes(['left', 'right'])
  await running.close()
  await operator.close()
})

test('the operator sees the sums over all processes', async (context) => {
  context.mock.timers.enable({ apis: ['setInterval'] })
  const processes = [create([{ name: 'seen' }]), create([{ name: 'seen' }])]
  for (const one of processes) {
    await one.start()
    await ask(first(one), 'answer')
  }
  const [sick] = processes as [(typeof processes)[0]]
  for (let i = 0; i < 5; i++) await ask(first(sick), 'fail')
  const seen = async () => (await sick.seen()).find((one) => one.target === 'seen#1')
  // Both processes must have written their views, and one does so before the other.
  for (let look = 0; look < 500; look++) {
    const now = await seen()
    if (now?.failed === 5 && now.succeeded === 2) break
    context.mock.timers.tick(2_000)
  }
  const expected = { target: 'seen#1', state: 'closed', underWay: 0, succeeded: 2, failed: 5 }
  assert.deepEqual(await seen(), { ...expected, processes: 2 })
  for (const one of processes) await one.close()
})

test('keeps the last settings while they cannot be read', async () => {
  const lines: string[] = []
  const upstreams = create([{ name: 'a' }], {
    clock: systemClock,
    db: { query: () => Promise.reject(new Error('the database is away')) },
    log: createLog({ level: 'warn', destination: { write: (line) => void lines.push(line) } }),
  })
  await upstreams.start()
  assert.deepEqual(route(upstreams), ['a'])
  assert.match(lines.join(''), /they stay/)
  await upstreams.close()
})
