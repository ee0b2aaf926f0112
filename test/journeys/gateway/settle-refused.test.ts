// The database refuses the charge of a reply. The client gets the whole reply once the charge is on
// disk, and pays once, when the database accepts it.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { systemClock } from '../../../src/platform/clock.ts'
import { createLog } from '../../../src/platform/log.ts'
import { createTestGateway, type TestGateway } from '../../stages/gateway.ts'
import { createCaller } from './caller.ts'
import { question } from './client.ts'
import { chargeLine, eventsOf, priceOf } from './expected-charges.ts'

const turned = { ms: 0 }
let gateway: TestGateway
before(async () => {
  const clock = { ...systemClock, spanMs: () => systemClock.spanMs() + turned.ms }
  gateway = await createTestGateway({ ledger: { clock, log: createLog({ level: 'silent' }) } })
})
after(() => gateway.end())

for (const stream of [false, true]) {
  const kind = stream ? 'stream' : 'plain'
  test(`a reply whose charge is refused completes and is charged once (${kind})`, async () => {
    const caller = await createCaller(gateway)
    const { db } = gateway.database
    await db.query('alter function ledger_settle_request rename to ledger_settle_gone')
    const answer = await caller.ask({ body: question('[[reply: text 9]]', { stream }) })
    assert.deepEqual([answer.status, answer.brokenBy], [200, null])
    if (stream) assert.equal(eventsOf(answer.bytes).at(-1)?.type, 'message_stop')
    else assert.equal(JSON.parse(answer.bytes.toString()).type, 'message')
    // The cost is unknown until the database has settled.
    assert.equal(answer.headers['x-credit-charged'], undefined)
    assert.equal(gateway.ledger.health().refused.waiting, 1)
    await db.query('alter function ledger_settle_gone rename to ledger_settle_request')
    turned.ms += 600_000
    const price = priceOf(caller.last().usage ?? {})
    assert.deepEqual(await caller.statement(), [chargeLine('complete', price)])
    assert.deepEqual(await gateway.ledger.audit('all'), [])
    caller.end()
  })
}
