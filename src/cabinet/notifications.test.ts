// Notifications of payment providers over HTTP: which are accepted, and what is answered.
import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import { createTestDatabase, settingsOf, type TestDatabase } from '../../test/support/harness.ts'
import { systemClock } from '../platform/clock.ts'
import { openDatabase } from '../platform/db/db.ts'
import { createLog } from '../platform/log.ts'
import { createServer } from '../platform/server/server.ts'
import { answers } from './answers.ts'
import { createCabinet, type Notification, type StoreNotification } from './cabinet.ts'
import { notificationsPlugin } from './notifications.ts'

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

const lines: string[] = []
const shared = () => ({
  clock: systemClock,
  log: createLog({ level: 'trace', destination: { write: (line) => void lines.push(line) } }),
  metrics: { countAnswer: () => undefined },
  cell: 0,
  addressHeader: 'x-real-ip',
  trustedProxies: '127.0.0.1',
})

async function startCabinet(t: TestContext, notify: StoreNotification) {
  const payments = { notify, providers: ['bank'] }
  const cabinet = createCabinet({ ...shared(), db: database.db, payments })
  t.after(() => cabinet.close({ idleMs: 0, limitMs: 1_000 }))
  const port = await cabinet.listen(0, '127.0.0.1')
  return {
    url: `http://127.0.0.1:${port}`,
    post: (init: RequestInit, provider = 'bank') =>
      fetch(`http://127.0.0.1:${port}/notifications/${provider}`, { method: 'POST', ...init }),
  }
}

const codeOf = async (answer: Response) =>
  ((await answer.json()) as { error: { code: string } }).error.code

test('passes on a body of any content type unchanged, with headers and peer address', async (t) => {
  const received: Notification[] = []
  const { post } = await startCabinet(t, async (one) => {
    received.push(one)
    return { status: 202, body: '{"code":0}' }
  })
  const bytes = Buffer.from([0x7b, 0xff, 0x00, 0x7d])
  const types = ['application/json', 'application/x-www-form-urlencoded', 'no type at all', '']
  for (const type of types) {
    const headers = { 'content-type': type, 'x-real-ip': '198.51.100.7', 'x-signature': 's' }
    const answer = await post({ body: bytes, headers })
    assert.equal(answer.status, 202)
    assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8')
    assert.equal(await answer.text(), '{"code":0}')
  }
  await post({})
  assert.equal(received.length, 5)
  for (const [i, one] of received.slice(0, 4).entries()) {
    assert.deepEqual([one.provider, one.peer], ['bank', '198.51.100.7'])
    assert.deepEqual(one.body, bytes)
    assert.equal(one.headers['content-type'] ?? '', types[i])
    assert.equal(one.headers['x-signature'], 's')
  }
  assert.equal(received[4]?.body.length, 0)
})

test('answers 404 for a provider that is not in use, without reading the body', async (t) => {
  const { post } = await startCabinet(t, () => assert.fail('the notification was passed on'))
  for (const provider of ['other', 'Bank', 'bank%2F', 'x'.repeat(500)]) {
    const answer = await post({ body: '{' }, provider)
    assert.deepEqual([answer.status, await codeOf(answer)], [404, 'path_unknown'], provider)
  }
  const none = createCabinet({ ...shared(), db: database.db })
  const answer = await none.inject({ method: 'POST', url: '/notifications/bank' })
  assert.equal(answer.statusCode, 404)
  await none.close()
})

test('accepts 64 KiB and refuses one byte more', async (t) => {
  const { post } = await startCabinet(t, async ({ body }) => ({
    status: 200,
    body: `${body.length}`,
  }))
  const headers = { 'content-type': 'application/json' }
  assert.equal(await (await post({ headers, body: 'x'.repeat(65_536) })).text(), '65536')
  const answer = await post({ headers, body: 'x'.repeat(65_537) })
  assert.deepEqual([answer.status, await codeOf(answer)], [413, 'body_too_large'])
})

test('answers 503 when storing fails, so that the provider sends it again', async (t) => {
  const { post } = await startCabinet(t, () =>
    Promise.reject(new Error('the database is unavailable')),
  )
  const answer = await post({ body: 'canary-of-a-body' })
  assert.deepEqual([answer.status, await codeOf(answer)], [503, 'unavailable'])
  assert.equal(answer.headers.get('retry-after'), '1')
  assert.match(lines.join(''), /a notification was not stored/)
  assert.doesNotMatch(lines.join(''), /canary/)
})

test('limits concurrent stores, also those that a provider no longer waits for', async () => {
  const stored = Promise.withResolvers<{ status: number; body: string }>()
  const { log } = shared()
  const plugin = notificationsPlugin({
    notify: () => stored.promise,
    providers: ['bank'],
    log,
    concurrentMax: 2,
    answerMs: 50,
  })
  const server = createServer({ ...shared(), answers }, [plugin])
  const post = async () => {
    const answer = await server.inject({ method: 'POST', url: '/notifications/bank' })
    return answer.statusCode === 200 ? 'stored' : answer.json().error.code
  }
  assert.deepEqual(await Promise.all([post(), post()]), ['unavailable', 'unavailable'])
  assert.equal(await post(), 'overloaded')
  stored.resolve({ status: 200, body: '' })
  await stored.promise
  assert.deepEqual(await Promise.all([post(), post()]), ['stored', 'stored'])
  await server.close()
})

test('/readyz answers 503 when the database does not answer', async (t) => {
  const { url } = await startCabinet(t, async () => ({ status: 200, body: '' }))
  assert.equal(await (await fetch(`${url}/healthz`)).text(), 'alive\n')
  assert.equal((await fetch(`${url}/readyz`)).status, 200)
  const unavailable = openDatabase(
    settingsOf('postgres://x@127.0.0.1:1/x'),
    'away',
    () => undefined,
  )
  const cabinet = createCabinet({ ...shared(), db: unavailable })
  const answer = await cabinet.inject('/readyz')
  assert.deepEqual([answer.statusCode, answer.body], [503, 'the database does not answer\n'])
  await cabinet.close()
  await unavailable.end()
})
