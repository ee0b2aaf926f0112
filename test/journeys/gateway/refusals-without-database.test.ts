// The database is unavailable. No client gets an answer that its key is wrong or its credits are
// missing: requests wait for the database, are then refused with retry-after, and leave no hold.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { systemClock } from '../../../src/platform/clock.ts'
import { createPricing } from '../../../src/pricing/pricing.ts'
import { createTestGateway, type TestGateway } from '../../stages/gateway.ts'
import { createDatabaseProxy, type DatabaseProxy } from '../../support/database-proxy.ts'
import { quiet, serverUrl } from '../../support/harness.ts'
import { type Caller, createCaller } from './caller.ts'
import { question, type RequestOptions, refusalOf } from './client.ts'
import { chargeLine, priceOf } from './expected-charges.ts'

// The product waits 30 s, since a failover takes 18 to 25; the rule is the same for less.
const HOLD_WAIT_MS = 1_000

const logLines: string[] = []
let proxy: DatabaseProxy
let gateway: TestGateway
before(async () => {
  proxy = await createDatabaseProxy(serverUrl)
  const ledger = { holdWaitMs: HOLD_WAIT_MS }
  gateway = await createTestGateway({ ledger, logLines, serverUrl: proxy.url })
})
after(async () => {
  await gateway.end()
  await proxy.end()
})

/** Blocks all database connections during the work. */
async function withoutDatabase(work: () => Promise<void>): Promise<void> {
  proxy.cut()
  await work().finally(() => proxy.restore())
}

/** A busy machine may take longer to connect again than a request waits. */
async function reconnected(caller: Caller): Promise<void> {
  for (let attempt = 0; attempt < 20; attempt++) {
    if ((await caller.ask({ path: '/v1/me', method: 'GET' })).status === 200) return
  }
  assert.fail('the gateway does not find the database again')
}

async function assertUnavailable(caller: Caller, asking: RequestOptions): Promise<void> {
  const answer = await caller.ask(asking)
  const { error, request_id } = refusalOf(answer)
  assert.deepEqual([answer.status, error.type], [529, 'overloaded_error'], error.message)
  assert.equal(answer.headers['retry-after'], '5')
  assert.equal(answer.headers['x-should-retry'], undefined)
  assert.equal(answer.headers['request-id'], request_id)
  const line = logLines.findLast((one) => one.includes(request_id))
  assert.equal(JSON.parse(line ?? '{}').code, 'ledger_unavailable')
}

test('refuses every request while the database is unavailable: ledger_unavailable', async () => {
  const caller = await createCaller(gateway)
  assert.equal((await caller.ask({ body: question() })).status, 200)
  const unknown = { 'x-api-key': `sk-vendor-03-${'U'.repeat(48)}` }
  await withoutDatabase(async () => {
    await Promise.all([
      assertUnavailable(caller, { body: question() }),
      assertUnavailable(caller, { body: question('Hello', { stream: true }) }),
      assertUnavailable(caller, { body: question('Hello', { model: 'model-large' }) }),
      assertUnavailable(caller, { path: '/v1/me', method: 'GET' }),
      assertUnavailable(caller, { path: '/v1/messages/count_tokens', body: question() }),
      assertUnavailable(caller, { body: question(), headers: unknown }),
    ])
    // Endpoints that need no database still answer.
    const models = await caller.ask({ path: '/v1/models', method: 'GET' })
    assert.equal(models.status, 200)
  })
  await reconnected(caller)
  assert.equal((await caller.ask({ body: question() })).status, 200)
  const charges = caller.received().map(({ usage }) => chargeLine('complete', priceOf(usage ?? {})))
  const statement = await caller.statement()
  // A hold that was sent and abandoned leaves a void, which is free.
  assert.deepEqual(
    statement.filter((line) => !line.startsWith('void refused 0')),
    charges,
  )
  assert.equal(charges.length, 2)
  assert.deepEqual(await gateway.ledger.audit('all'), [])
  caller.end()
})

test('the first request of a new catalogue waits for the database', async () => {
  const caller = await createCaller(gateway)
  assert.equal((await caller.ask({ body: question() })).status, 200)
  const { pricing } = gateway
  const text = pricing.format(pricing.current()).replace(/createdAt: .*/, 'createdAt: 2026-02-03')
  const read = pricing.parse(text)
  assert.ok('catalogue' in read)
  // The gateway may apply no catalogue but the first; an operator does.
  const operator = createPricing({ db: gateway.database.db, log: quiet, clock: systemClock })
  const { isNew } = await operator.apply(read.catalogue, { by: 'a test', note: '' })
  assert.equal(isNew, true)
  await pricing.refresh()
  proxy.cut()
  setTimeout(() => proxy.restore(), 100)
  assert.equal((await caller.ask({ body: question() })).status, 200)
  caller.end()
})

test('a table under migration refuses the requests that read it: ledger_unavailable', async () => {
  const caller = await createCaller(gateway)
  await gateway.database.db.transaction(async (tx) => {
    await tx.query('lock table usage_marks in access exclusive mode')
    await assertUnavailable(caller, { path: '/v1/me', method: 'GET' })
  })
  assert.equal((await caller.ask({ path: '/v1/me', method: 'GET' })).status, 200)
  caller.end()
})

test('the list of models waits 1 s for the database, also with a key not seen before', async () => {
  const caller = await createCaller(gateway)
  const list = { path: '/v1/models', method: 'GET' }
  for (const table of ['keys', 'books']) {
    await gateway.database.db.transaction(async (tx) => {
      await tx.query(`lock table ${table} in access exclusive mode`)
      const startedMs = Date.now()
      const { status, bytes } = await caller.ask(list)
      assert.equal(status, 200)
      assert.doesNotMatch(bytes.toString(), /turns? left/)
      // Agents wait 3 s for the list.
      assert.ok(Date.now() - startedMs < 2_800, `${table}: ${Date.now() - startedMs} ms`)
    })
  }
  assert.match((await caller.ask(list)).bytes.toString(), /turns left/)
  caller.end()
})

test('a reply that ends while the database is unavailable waits for its charge', async () => {
  const caller = await createCaller(gateway)
  const body = question('[[reply: text 9]] [[fault: silence-after=3 silence-ms=300]]', {
    stream: true,
  })
  const sent = caller.send({ body })
  await sent.until((bytes) => bytes.includes('content_block_start'))
  let hasEnded = false
  const ended = sent.answer.then(() => {
    hasEnded = true
  })
  await withoutDatabase(async () => {
    await caller.upstream(({ outcome }) => outcome === 'finished')
    await new Promise((resolve) => setTimeout(resolve, 500))
    assert.equal(hasEnded, false, 'message_stop waits')
  })
  await ended
  const { bytes, brokenBy } = await sent.answer
  assert.equal(brokenBy, null)
  assert.ok(bytes.includes('message_stop'))
  const price = priceOf(caller.last().usage ?? {})
  assert.deepEqual(await caller.statement(), [chargeLine('complete', price)])
  caller.end()
})
