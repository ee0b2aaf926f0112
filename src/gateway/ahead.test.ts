// A request goes upstream as soon as its credits are set aside, while that is being committed.
// Nothing of the reply is passed on before; a hold that comes to nothing ends the request.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { type Commits, commitsOf, SLOW_MS } from '../../test/commits.ts'
import { type Account, createTestGateway, type TestGateway } from '../../test/gateway.ts'

let gateway: TestGateway
let commits: Commits

before(async () => {
  gateway = await createTestGateway()
  commits = await commitsOf(gateway.database.db)
})
after(() => gateway.end())
afterEach(async () => {
  await commits.become('quick')
  gateway.vendor.clear()
  gateway.vendor.mode()
  assert.deepEqual(await gateway.ledger.audit('all'), [])
})

function post({ key }: Account, prompt: string, stream: boolean): Promise<Response> {
  const messages = [{ role: 'user', content: prompt }]
  return fetch(`${gateway.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'model-large', max_tokens: 1_000, messages, stream }),
  })
}

for (const stream of [false, true]) {
  const kind = stream ? 'stream' : 'plain reply'

  test(`the upstream is asked during the commit, the ${kind} waits for it`, async () => {
    const account = await gateway.account(1_000_000)
    await post(account, 'Hello', false).then((warm) => warm.text())
    gateway.vendor.clear()
    await commits.become('slow')
    const fromMs = Date.now()
    const reply = await post(account, 'Hello', stream)
    const answeredMs = Date.now() - fromMs
    const askedMs = (gateway.vendor.requests[0]?.arrivedAt ?? Infinity) - fromMs
    assert.ok(askedMs < SLOW_MS, `the upstream was asked after ${askedMs} ms`)
    assert.ok(answeredMs >= SLOW_MS, `the reply began after ${answeredMs} ms`)
    assert.equal(reply.status, 200)
    await reply.text()
    const charges = await gateway.statement(account.book)
    assert.equal(charges.filter((entry) => entry.kind === 'charge').length, 2)
  })

  test(`of a ${kind} whose hold came to nothing the client sees nothing`, async () => {
    const account = await gateway.account(1_000_000)
    await post(account, 'Hello', false).then((warm) => warm.text())
    gateway.vendor.clear()
    await commits.become('failing')
    const reply = await post(account, 'Hello [[fault: headers-ms=100]]', stream)
    const text = await reply.text()
    await commits.become('quick')
    assert.equal(reply.status, 500)
    assert.equal(JSON.parse(text).error.type, 'api_error')
    assert.equal(gateway.vendor.requests.length, 1)
    const charges = await gateway.statement(account.book)
    assert.equal(charges.filter((entry) => entry.kind === 'charge').length, 1)
  })
}

test('a large stream waits with the upstream while the commit lasts, and comes whole', async () => {
  const account = await gateway.account(100_000_000)
  await post(account, 'Hello', false).then((warm) => warm.text())
  await commits.become('slow')
  const reply = await post(account, '[[reply: text 10]] [[fault: huge=4000000]]', true)
  const text = await reply.text()
  assert.ok(text.length > 4_000_000)
  assert.ok(text.includes('message_stop'))
})
