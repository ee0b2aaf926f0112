// The entry file on a real database and real stand-ins: which targets are tried for a model, in
// which order, and how the operator's changes arrive while requests are served.
import assert from 'node:assert/strict'
import type { IncomingHttpHeaders } from 'node:http'
import { test } from 'node:test'
import { upstreamDefaults } from '../../test/stages/data-plane.ts'
import { openUpstreamPeers } from '../../test/stages/upstream-peers.ts'
import { quiet } from '../../test/support/harness.ts'
import { systemClock } from '../platform/clock.ts'
import { type BookId, newInstanceId } from '../platform/ids.ts'
import { createLog } from '../platform/log.ts'
import { Masked } from '../platform/masked.ts'
import type { Verdict } from '../wire/verdict.ts'
import type { Target, UpstreamPath } from './port.ts'
import { createUpstreams, type UpstreamOptions, type Upstreams } from './upstreams.ts'

const at = openUpstreamPeers()

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

const [ONE, OTHER] = [1n, 2n] as [BookId, BookId]

/** All targets that a request would try now, in order. */
function targetsOf(
  upstreams: Routes,
  model = 'any',
  path: UpstreamPath = '/v1/messages',
): Target[] {
  const route = upstreams.route(path, ONE, model, 1)
  const found: Target[] = []
  for (let one = route.next(); one !== undefined; one = route.next()) found.push(one)
  return found
}

const route = (upstreams: Routes, model?: string, path?: UpstreamPath) =>
  targetsOf(upstreams, model, path).map((one) => one.upstream)

/** The target that a request tries first. */
const first = (upstreams: Routes, path: UpstreamPath = '/v1/messages') =>
  upstreams.route(path, ONE, 'any', 1).next()

/** One request to a target, reported as the relay reports it; each has another body. */
async function ask(
  target: Target | undefined,
  how: Verdict | 'fail' | 'leave',
  { book = ONE, headers = {} as IncomingHttpHeaders, model = 'any' } = {},
): Promise<void> {
  assert.ok(target !== undefined)
  const over = Promise.withResolvers<void>()
  bodies.sent += 1
  const { call, outcome } = target.send(
    {
      book,
      holder: { onShed: undefined },
      model,
      path: '/v1/messages',
      headers: [],
      body: [Buffer.from(`{"number":${bodies.sent}}`)],
      isStream: false,
      untilMs: Number.POSITIVE_INFINITY,
    },
    { head: () => undefined, data: () => undefined, end: over.resolve, fail: over.reject },
  )
  await over.promise
  if (how === 'fail') outcome.fail()
  else if (how !== 'leave') {
    outcome.finish()
    outcome.answer(how, headers)
  }
  call.abort()
  outcome.end()
}

const bodies = { sent: 0 }

/** Requests of two accounts that fail, until the target is known to be sick. */
async function makeSick(next: () => Target | undefined): Promise<void> {
  for (let i = 0; i < 5; i++) await ask(next(), 'fail', { book: i % 2 === 0 ? ONE : OTHER })
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
  await makeSick(() => first(upstreams))
  assert.equal(first(upstreams)?.upstream, other)
  const seen = upstreams.views().find((view) => view.target === `${home}#1`)
  assert.deepEqual([seen?.state, seen?.underWay, seen?.succeeded, seen?.failed], ['open', 0, 0, 5])
  upstreams.clock.ms += 1_000
  assert.equal(first(upstreams)?.upstream, home, 'one request may ask it again')
  assert.equal(first(upstreams)?.upstream, other, 'and only one')
  upstreams.clock.ms += 1_000
  await ask(first(upstreams), 'served')
  assert.deepEqual(route(upstreams), [home, other, 'c'])
  await upstreams.close()
})

test('outcomes on the free path do not change the paid path', async () => {
  const free: UpstreamPath = '/v1/messages/count_tokens'
  const upstreams = create([
    { name: 'a', priority: 1 },
    { name: 'b', priority: 2 },
  ])
  const [a] = targetsOf(upstreams, 'any', free)
  for (const how of ['limited', 'overloaded', 'unpaid', 'forbidden', 'fail'] as const) {
    await makeSick(() => a)
    for (const book of [ONE, OTHER]) await ask(a, how, { book })
    assert.equal(first(upstreams, free)?.upstream, 'b')
    assert.equal(first(upstreams)?.upstream, 'a', how)
    upstreams.clock.ms += 1
  }
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
    for (const target of targetsOf(upstreams, 'any', path)) {
      for (const book of [ONE, OTHER]) await ask(target, 'fail', { book })
    }
  }
  /** How many of `count` requests may be retried. */
  const retries = (count: number, path?: UpstreamPath) =>
    Array.from({ length: count }, () => route(upstreams, 'any', path)).filter(
      (targets) => targets.length > 1,
    ).length
  assert.ok(retries(400, free) < 400, 'the free path has used up its own')
  assert.equal(retries(90), 90)
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
  await makeSick(() => a)
  upstreams.clock.ms += 1_000
  assert.equal(first(upstreams, free)?.upstream, 'b')
  await makeSick(() => b)
  await ask(first(upstreams, free), 'served')
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
  await makeSick(() => first(upstreams))
  upstreams.clock.ms += 1_000
  await ask(first(upstreams), 'limited')
  assert.equal(upstreams.views()[0]?.state, 'open')
  upstreams.clock.ms += 1_000
  await ask(first(upstreams), 'served')
  assert.equal(upstreams.views()[0]?.state, 'closed')
  await upstreams.close()
})

test('a request whose client left does not count against the target', async () => {
  const upstreams = create([{ name: 'a' }])
  for (let i = 0; i < 5; i++) {
    await ask(first(upstreams), 'leave')
  }
  const [view] = upstreams.views()
  assert.deepEqual([view?.state, view?.underWay, view?.failed], ['closed', 0, 0])
  await upstreams.close()
})

test('a request is sent with our credential, under the path of the URL', async () => {
  const upstreams = create([
    { name: 'a', url: `${at.vendor.url}/base`, keys: [at.vendor.keys[1] as string] },
  ])
  at.vendor.clear()
  await ask(first(upstreams), 'served')
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
    await ask(first(one), 'served')
  }
  const [sick] = processes as [(typeof processes)[0]]
  await makeSick(() => first(sick))
  const seen = async () => (await sick.seen()).find((one) => one.target === 'seen#1')
  // Both processes must have written their views, and one does so before the other.
  for (let look = 0; look < 500; look++) {
    const now = await seen()
    if (now?.failed === 5 && now.succeeded === 2) break
    context.mock.timers.tick(2_000)
  }
  const expected = { target: 'seen#1', state: 'closed', underWay: 0, succeeded: 2, failed: 5 }
  const { details, ...sums } = (await seen()) ?? assert.fail()
  assert.deepEqual(sums, { ...expected, processes: 2 })
  assert.deepEqual(details.map(({ models }) => models[0]?.state).sort(), ['serving', 'sick'])
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

test('each change of a state is logged once, with the target and the model', async () => {
  const lines: string[] = []
  const log = createLog({ level: 'info', destination: { write: (line) => void lines.push(line) } })
  const upstreams = create([{ name: 'a' }], { log })
  const [a] = targetsOf(upstreams)
  const events = () => lines.splice(0).map((line) => JSON.parse(line))
  for (let i = 0; i < 20; i++) await makeSick(() => a)
  for (let i = 0; i < 3; i++) await ask(a, 'served')
  for (let i = 0; i < 3; i++) await ask(a, 'limited', { headers: { 'retry-after': '7' } })
  for (let i = 0; i < 3; i++) await ask(a, 'unpaid')
  assert.deepEqual(
    events().map(({ level, target, model, seconds, why, msg }) => [
      ...[level, target, model, seconds ?? why, msg],
    ]),
    [
      ['warn', 'a#1', 'any', undefined, 'an upstream fails and is avoided'],
      ['info', 'a#1', 'any', undefined, 'an upstream answers again'],
      ['info', 'a#1', 'any', 7, 'an upstream asks for a pause'],
      ['error', 'a#1', undefined, 'unpaid', 'an upstream credential is refused'],
    ],
  )
  upstreams.clock.ms += 60_000
  await ask(a, 'served')
  assert.match(String(events()[0]?.msg), /accepted again/)
  await upstreams.close()
})

test('the operator sees pauses, limits and the requests under way by model', async () => {
  const upstreams = create([{ name: 'a' }])
  const [a] = targetsOf(upstreams)
  const limits = {
    'anthropic-ratelimit-tokens-limit': '1000',
    'anthropic-ratelimit-tokens-remaining': '900',
  }
  await ask(a, 'served', { model: 'small', headers: limits })
  const headers = { 'retry-after': '30' }
  for (const book of [ONE, OTHER]) await ask(a, 'limited', { model: 'large', book, headers })
  const [view] = upstreams.views()
  const byModel = new Map(view?.details.models.map((one) => [one.model, one]))
  const { state, coolingSeconds, most } = byModel.get('large') ?? assert.fail()
  assert.deepEqual([state, coolingSeconds, most], ['cooling', 30, 1])
  assert.deepEqual(byModel.get('small'), {
    ...{ model: 'small', isFree: false, state: 'serving', coolingSeconds: 0 },
    ...{ underWay: 0, most: null, limits: { tokens: { limit: 1_000, left: 900 } } },
  })
  await upstreams.close()
})
