// The owner's guards through a real gateway: concurrent requests cannot exceed the daily limit, a
// jump in spending stops the next request, and one click resumes requests.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { BookId } from '../../../src/platform/ids.ts'
import { credits } from '../../../src/units/credits.ts'
import { createTestGateway, type TestGateway } from '../../stages/gateway.ts'
import { createCaller } from './caller.ts'
import { question, refusalOf } from './client.ts'

const AT_ONCE = 100
const ASKED = 4_000

let gateway: TestGateway
before(async () => {
  gateway = await createTestGateway()
})
after(() => gateway.end())

function limit(book: BookId, limits: { dayLimit?: number; velocityLimit?: number }) {
  const { dayLimit, velocityLimit } = limits
  return gateway.ledger.setLimits(gateway.database.db, book, {
    dayLimit: dayLimit === undefined ? null : credits(dayLimit),
    velocityLimit: velocityLimit === undefined ? null : credits(velocityLimit),
    velocitySeconds: 600,
  })
}

test('a hundred concurrent requests never exceed the daily limit by a microcredit', async (t) => {
  const body = question('[[fault: headers-ms=300]]', { max_tokens: ASKED })
  const worst = body.length + 5 * ASKED
  // Each costs all that was held for it, so that a small reply cannot hide an error.
  gateway.vendor.mode({ fault: `usage-input=${body.length} usage-output=${ASKED}` })
  const caller = await createCaller(gateway, 1_000 * worst)
  // The limit fits ten and a half requests.
  const dayLimit = 10 * worst + Math.floor(worst / 2)
  await limit(caller.book, { dayLimit })
  const headers = { 'x-credit-clamp': 'off' }
  const first = await Promise.all(
    Array.from({ length: AT_ONCE }, () => caller.ask({ body, headers })),
  )
  const served = first.filter(({ status }) => status === 200)
  const refused = first.filter(({ status }) => status === 402)
  assert.equal(served.length + refused.length, AT_ONCE)
  for (const answer of refused) assert.match(refusalOf(answer).error.message, /daily credit limit/)
  // The next requests get what the first ones left, until not even one fits.
  for (;;) {
    const { status } = await caller.ask({ body, headers })
    if (status === 402) break
    assert.equal(status, 200)
  }
  await gateway.settled(caller.book)
  const spent = (await gateway.ledger.balance(caller.book))?.daySpent ?? -1n
  assert.ok(spent <= credits(dayLimit), `${spent} of ${credits(dayLimit)}`)
  assert.ok(spent > credits(dayLimit - worst), 'and nearly all of it was served')
  t.diagnostic(`${served.length} served at once, ${spent} of ${credits(dayLimit)} microcredits`)
  assert.deepEqual(await gateway.ledger.audit('all'), [])
  gateway.vendor.clear()
  caller.end()
})

test('a jump in spending stops the next request, and a resume lets it through', async () => {
  const body = question('Hello', { max_tokens: 1_000 })
  const caller = await createCaller(gateway, 1_000_000)
  await limit(caller.book, { velocityLimit: 1 })
  assert.equal((await caller.ask({ body })).status, 200)
  const stopped = await caller.ask({ body })
  assert.equal(stopped.status, 402)
  assert.match(refusalOf(stopped).error.message, /faster than your limit/)
  const { db } = gateway.database
  assert.ok(await gateway.ledger.resume(db, caller.book, 'velocity_stopped'))
  assert.equal((await caller.ask({ body })).status, 200)
  caller.end()
})
