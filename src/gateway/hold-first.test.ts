// The hold is committed before any byte of a message goes upstream. When its commit fails, the
// upstream receives nothing and the client gets an error.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { type Account, createTestGateway, type TestGateway } from '../../test/stages/gateway.ts'
import {
  type CommitFaults,
  installCommitFaults,
  SLOW_COMMIT_MS,
} from '../../test/support/commit-faults.ts'

let gateway: TestGateway
let commits: CommitFaults

before(async () => {
  gateway = await createTestGateway()
  commits = await installCommitFaults(gateway.database.db)
})
after(() => gateway.end())
afterEach(async () => {
  await commits.set('quick')
  gateway.vendor.clear()
  gateway.vendor.mode()
  assert.deepEqual(await gateway.ledger.audit('all'), [])
})

function post(
  { key }: Account,
  prompt: string,
  stream: boolean,
  signal: AbortSignal | null = null,
): Promise<Response> {
  const messages = [{ role: 'user', content: prompt }]
  return fetch(`${gateway.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'model-large', max_tokens: 1_000, messages, stream }),
    signal,
  })
}

for (const stream of [false, true]) {
  const kind = stream ? 'stream' : 'plain reply'

  test(`sends the request for a ${kind} upstream only after the hold's commit`, async () => {
    const account = await gateway.account(1_000_000)
    await post(account, 'Hello', false).then((warm) => warm.text())
    gateway.vendor.clear()
    await commits.set('slow')
    const fromMs = Date.now()
    const reply = await post(account, 'Hello', stream)
    const arrivedMs = (gateway.vendor.requests[0]?.arrivedAt ?? Number.NaN) - fromMs
    assert.ok(arrivedMs >= SLOW_COMMIT_MS, `the upstream received it after ${arrivedMs} ms`)
    assert.equal(reply.status, 200)
    await reply.text()
    const charges = await gateway.statement(account.book)
    assert.equal(charges.filter((entry) => entry.kind === 'charge').length, 2)
  })

  test(`does not charge a ${kind} when the client leaves before the hold's commit`, async () => {
    const account = await gateway.account(1_000_000)
    await post(account, 'Hello', false).then((warm) => warm.text())
    gateway.vendor.clear()
    await commits.set('slow')
    const leaving = post(account, 'Hello', stream, AbortSignal.timeout(SLOW_COMMIT_MS / 2))
    await assert.rejects(leaving, { name: 'TimeoutError' })
    const isClosed = async () => (await gateway.statement(account.book)).length > 2
    for (let i = 0; i < 100 && !(await isClosed()); i++) await delay(50)
    const last = (await gateway.statement(account.book)).at(-1)
    assert.deepEqual([last?.kind, last?.ending], ['void', 'given_up'])
    assert.equal(gateway.vendor.requests.length, 0)
  })

  test(`sends nothing upstream for a ${kind} when the hold's commit fails`, async () => {
    const account = await gateway.account(1_000_000)
    await post(account, 'Hello', false).then((warm) => warm.text())
    gateway.vendor.clear()
    await commits.set('failing')
    const reply = await post(account, 'Hello', stream)
    const text = await reply.text()
    await commits.set('quick')
    assert.equal(reply.status, 500)
    assert.equal(JSON.parse(text).error.type, 'api_error')
    assert.equal(gateway.vendor.requests.length, 0)
    const charges = await gateway.statement(account.book)
    assert.equal(charges.filter((entry) => entry.kind === 'charge').length, 1)
  })
}
