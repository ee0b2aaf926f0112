// The database refuses the charge of a reply. The client gets the whole reply once the charge is on
// disk, and pays once, when the database accepts it.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
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

for (const how of ['plain', 'stream', 'a stream that its client leaves'] as const) {
  test(`a fault while charging is logged once (${how})`, async () => {
    const logLines: string[] = []
    const own = await createTestGateway({ logLines })
    const caller = await createCaller(own)
    own.ledger.settle = () => Promise.reject(new Error('the charge failed'))
    const fault = how === 'a stream that its client leaves' ? '[[fault: silence-after=5]]' : ''
    const stream = how !== 'plain'
    const sent = caller.send({ body: question(`[[reply: text 9]] ${fault}`, { stream }) })
    if (fault !== '') {
      await sent.until((bytes) => eventsOf(bytes).length >= 5)
      sent.disconnect()
    } else {
      const { status, bytes } = await sent.answer
      assert.equal(status, stream ? 200 : 500)
      assert.match(bytes.toString(), /"type":"api_error"/)
      assert.doesNotMatch(bytes.toString(), /message_stop|nothing was charged/)
    }
    const faults = () => logLines.map((line) => JSON.parse(line)).filter(({ err }) => err)
    for (let i = 0; i < 1_000 && faults().length === 0; i++) await wait(10)
    caller.end()
    await own.end()
    assert.deepEqual(
      faults().map(({ level, msg, err }) => [level, msg, err.message]),
      [['error', 'request', 'the charge failed']],
      logLines.join('\n'),
    )
  })
}
