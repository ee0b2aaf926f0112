// Every figure of Today adds up from its rows, page by page, after a day with refunds, disputes,
// gifts, corrections and failed requests.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createOperatorStage, type OperatorStage } from '../../../test/stages/operator.ts'

let stage: OperatorStage

before(async () => {
  stage = await createOperatorStage()
})
after(() => stage.end())

async function arrangeDay(): Promise<void> {
  const [anna, boris, vera] = [
    await stage.person('anna'),
    await stage.person('boris'),
    await stage.person('vera'),
  ]
  for (const person of [anna, boris, vera]) await stage.buyPack(person)
  const refunded = (await stage.buyPack(anna)).id
  const returned = (await stage.buyPack(boris)).id
  const [won, lost] = [(await stage.buyPack(vera)).id, (await stage.buyPack(vera)).id]
  for (const credits of [52_000, 310, 1_287]) await stage.spend(anna.book, credits)
  await stage.spend(vera.book, 80_000_000)
  await stage.json('refund', refunded, '--reason', 'asked', '--amount', '333.33')
  // In the merchant portal, more than is unspent: the rest becomes an adjustment and a debt.
  await stage.spend(boris.book, 69_000_000)
  await stage.sim('refund', { orderId: returned })
  await stage.payments.jobs.sweepRefunds()
  for (const order of [won, lost]) await stage.json('disputes', 'open', order, '--note', 'letter')
  await stage.json('disputes', 'won', won, '--note', 'letter')
  await stage.json('disputes', 'lost', lost, '--note', 'letter')
  await stage.json('grant', anna.email, '500', '--reason', 'outage')
  await stage.json('adjust', anna.email, '-0.25', '--reason', 'counted twice')
  const differing = await stage.buy(await stage.newBook())
  await stage.sim('alter', { orderId: differing.id, value: '1299.00' })
  await stage.sim('pay', { orderId: differing.id })
  await stage.payments.check(differing.id)
  const running = await stage.beginRequest(anna.book, 5_000)
  await stage.ledger.aggregateUsage()
  await stage.spend(anna.book, 77)
  await running.settle(5_000)
  await stage.beginRequest(anna.book, 900)
}

/** All pages of a figure's rows. */
async function rowsOf(name: string) {
  const { dayRows } = stage.modules.reports
  const amounts: bigint[] = []
  let before: string | null = null
  for (let pages = 0; pages < 50; pages += 1) {
    const page = await dayRows({ name, day: null, before, limit: 2 })
    if (page === undefined) return undefined
    amounts.push(...page.rows.map(({ amount }) => amount))
    before = page.next
    if (before === null) {
      assert.equal(page.count, BigInt(amounts.length), `${name}: no row is missing or twice`)
      return { total: page.total, sum: amounts.reduce((sum, one) => sum + one, 0n) }
    }
  }
  return assert.fail(`${name} has no last page`)
}

test('the rows of each figure add up to it', async () => {
  await arrangeDay()
  const { figures } = await stage.modules.reports.today()
  const moved: string[] = []
  const without: string[] = []
  for (const { name, value, unit } of figures) {
    const rows = await rowsOf(name)
    if (rows === undefined) without.push(name)
    else if (unit === 'milliseconds') assert.equal(rows.total, null, name)
    else {
      assert.deepEqual([rows.total, rows.sum], [value, value], name)
      if (value !== 0n) moved.push(name)
    }
  }
  assert.deepEqual(without, ['cost', 'margin', 'marginShare', 'refused'])
  for (const name of ['taken', 'refunded', 'disputesLost', 'inReview', 'creditsAdjusted', 'debt']) {
    assert.ok(moved.includes(name), `${name} is not nothing on this day: ${moved.join(' ')}`)
  }
})

test('rows of another day are those of that day', async () => {
  const { dayRows } = stage.modules.reports
  const page = await dayRows({ name: 'taken', day: '2026-01-31', before: null, limit: 5 })
  assert.deepEqual([page?.day, page?.total, page?.rows], ['2026-01-31', 0n, []])
})
