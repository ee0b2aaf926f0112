// The database is away. Nobody is told that a key is wrong or that credits are missing: requests
// wait for it and are then turned away with a time to come back, and nothing is held afterwards.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createTestGateway, type TestGateway } from '../../stages/gateway.ts'
import { type Cable, createCable } from '../../support/cable.ts'
import { serverUrl } from '../../support/harness.ts'
import { type Caller, createCaller } from './caller.ts'
import { type Asking, question, refusalOf } from './client.ts'
import { charged, priceOf } from './sums.ts'

// The product waits 30 s, since a failover takes 18 to 25; the rule is the same for less.
const HOLD_WAIT_MS = 400

const logLines: string[] = []
let cable: Cable
let gateway: TestGateway
before(async () => {
  cable = await createCable(serverUrl)
  const ledger = { holdWaitMs: HOLD_WAIT_MS }
  gateway = await createTestGateway({ ledger, logLines, serverUrl: cable.url })
})
after(async () => {
  await gateway.end()
  await cable.end()
})

/** Lets nobody reach the database while the work goes on. */
async function away(work: () => Promise<void>): Promise<void> {
  cable.cut()
  await work().finally(() => cable.mend())
}

async function assertAway(caller: Caller, asking: Asking): Promise<void> {
  const answer = await caller.ask(asking)
  const { error, request_id } = refusalOf(answer)
  assert.deepEqual([answer.status, error.type], [529, 'overloaded_error'], error.message)
  assert.equal(answer.headers['retry-after'], '5')
  assert.equal(answer.headers['x-should-retry'], undefined)
  assert.equal(answer.headers['request-id'], request_id)
  const line = logLines.findLast((one) => one.includes(request_id))
  assert.equal(JSON.parse(line ?? '{}').code, 'ledger_unavailable')
}

test('without a database every request is turned away for now: ledger_unavailable', async () => {
  const caller = await createCaller(gateway)
  assert.equal((await caller.ask({ body: question() })).status, 200)
  await away(async () => {
    await assertAway(caller, { body: question() })
    await assertAway(caller, { body: question('Hello', { stream: true }) })
    await assertAway(caller, { body: question('Hello', { model: 'model-large' }) })
    await assertAway(caller, { path: '/v1/me', method: 'GET' })
    await assertAway(caller, { path: '/v1/messages/count_tokens', body: question() })
    const unknown = { 'x-api-key': `sk-vendor-03-${'U'.repeat(48)}` }
    await assertAway(caller, { body: question(), headers: unknown })
    // What needs no database is served on.
    const models = await caller.ask({ path: '/v1/models', method: 'GET' })
    assert.equal(models.status, 200)
  })
  assert.equal((await caller.ask({ body: question() })).status, 200)
  const charges = caller.received().map(({ usage }) => charged('complete', priceOf(usage ?? {})))
  const statement = await caller.statement()
  // A hold that was sent and given up leaves a void; it costs nothing.
  assert.deepEqual(
    statement.filter((line) => !line.startsWith('void given_up 0')),
    charges,
  )
  assert.equal(charges.length, 2)
  assert.deepEqual(await gateway.ledger.audit('all'), [])
  caller.end()
})

test('a table under migration turns away what reads it, and is no fault', async () => {
  const caller = await createCaller(gateway)
  await gateway.database.db.transaction(async (tx) => {
    await tx.query('lock table usage_marks in access exclusive mode')
    await assertAway(caller, { path: '/v1/me', method: 'GET' })
  })
  assert.equal((await caller.ask({ path: '/v1/me', method: 'GET' })).status, 200)
  caller.end()
})

test('a reply that ends while the database is away waits for its charge', async () => {
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
  await away(async () => {
    await caller.upstream(({ outcome }) => outcome === 'finished')
    await new Promise((resolve) => setTimeout(resolve, 500))
    assert.equal(hasEnded, false, 'message_stop waits')
  })
  await ended
  const { bytes, brokenBy } = await sent.answer
  assert.equal(brokenBy, null)
  assert.ok(bytes.includes('message_stop'))
  const price = priceOf(caller.last().usage ?? {})
  assert.deepEqual(await caller.statement(), [charged('complete', price)])
  caller.end()
})
