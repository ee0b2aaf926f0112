// Two hundred requests at once against a balance that fits ten in full and one in part: the balance
// never goes below zero, a request that fits in part is lowered and reports it, and the rest is
// refused.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createTestGateway, type TestGateway } from '../../stages/gateway.ts'
import { createCaller } from './caller.ts'
import { type Answer, question, refusalOf } from './client.ts'
import { chargeLine, priceOf } from './expected-charges.ts'

const ASKED = 32_000
const AT_ONCE = 200

let gateway: TestGateway
before(async () => {
  gateway = await createTestGateway()
})
after(() => gateway.end())

test('a balance for ten serves ten in full, a few in part, and refuses the rest', async (t) => {
  // Late headers keep all of them open until the last one is decided, on a busy machine too.
  const body = question('[[reply: text 50]] [[fault: headers-ms=4000]]', { max_tokens: ASKED })
  const worst = body.length + 5 * ASKED
  const balance = 10 * worst + Math.floor(worst / 2)
  const caller = await createCaller(gateway, balance)
  const asked = Array.from({ length: AT_ONCE }, () => caller.ask({ body }))
  const seen: { available: bigint; held: bigint }[] = []
  const watch = setInterval(() => {
    void gateway.ledger.balance(caller.book).then((book) => book && seen.push(book))
  }, 20)
  const answers = await Promise.all(asked)
  clearInterval(watch)

  const served = answers.filter(({ status }) => status === 200)
  const lowered = served.filter(({ headers }) => headers['x-credit-max-tokens'] !== undefined)
  const refused = answers.filter(({ status }) => status === 402)
  assert.equal(served.length + refused.length, AT_ONCE)
  assert.equal(served.length - lowered.length, 10)
  assert.ok(lowered.length > 0, 'some were lowered')
  for (const answer of refused) assertRefused(answer)

  // The limit that the client was shown is the one that the upstream received.
  const numberOf = (text: string | undefined) => Number(/"max_tokens":(\d+)/.exec(text ?? '')?.[1])
  const atUpstream = caller.received().map((one) => numberOf(one.body?.toString()))
  const told = served.map(({ headers }) => Number(headers['x-credit-max-tokens'] ?? ASKED))
  const ascending = (a: number, b: number) => a - b
  assert.deepEqual(atUpstream.toSorted(ascending), told.toSorted(ascending))
  for (const { headers } of lowered) {
    const number = Number(headers['x-credit-max-tokens'])
    assert.ok(number >= 4_096 && number < ASKED, `${number} is a useful length`)
  }

  // The holds together never exceeded the balance.
  const promised = atUpstream.reduce((sum, number) => sum + 5 * number + body.length, 0)
  assert.ok(promised <= balance, `${promised} of ${balance} were promised`)
  assert.ok(seen.some(({ held }) => held > 0n))
  for (const { available, held } of seen) assert.ok(available >= 0n && held >= 0n)

  const charges = caller.received().map(({ usage }) => chargeLine('complete', priceOf(usage ?? {})))
  assert.deepEqual((await caller.statement()).toSorted(), charges.toSorted())
  assert.deepEqual(await gateway.ledger.audit('all'), [])
  t.diagnostic(
    `${served.length - lowered.length} in full, ${lowered.length} lowered to ` +
      `${lowered.map(({ headers }) => headers['x-credit-max-tokens']).join(', ')}, ` +
      `${refused.length} refused`,
  )
  caller.end()
})

function assertRefused(answer: Answer): void {
  assert.equal(refusalOf(answer).error.type, 'billing_error')
  assert.match(refusalOf(answer).error.message, /^Not enough credits: /)
  assert.equal(answer.headers['x-should-retry'], 'false')
}
