// op signals as an operator types it.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createOperatorStage, type OperatorStage } from '../../../test/stages/operator.ts'

let stage: OperatorStage
before(async () => {
  stage = await createOperatorStage()
})
after(() => stage.end())

test('says so when there is no signal', async () => {
  const { code, out } = await stage.op(['signals'])
  assert.deepEqual([code, out], [0, 'no signal in the last 30 days'])
  assert.equal((await stage.op(['signals', '--days', '181'])).code, 2)
})

test('names the accounts that share a card, and those with many refunds or tries', async () => {
  const [anna, boris] = [await stage.person('anna'), await stage.person('boris')]
  const bought = async ({ book }: typeof anna) => {
    const { id } = await stage.buy(book)
    await stage.sim('pay', { orderId: id })
    await stage.payments.check(id)
    return id
  }
  for (const own of [anna, boris]) await bought(own)
  for (const order of [await bought(anna), await bought(anna)]) {
    const asked = { attempt: 'once', by: 'anna', reason: 'asked' }
    await stage.payments.requestRefund({ order, book: anna.book, ...asked })
  }
  for (let i = 0; i < 5; i++) await assert.rejects(stage.payments.redeem(boris.book, `NO-${i}`))
  const { code, out } = await stage.op(['signals', '--days', '7'])
  assert.equal(code, 0)
  const [head, card, refunds, tries, ...others] = out.split('\n')
  assert.match(head ?? '', /^signal +of +count +first, UTC +last, UTC +accounts$/)
  assert.match(card ?? '', /^card +[0-9a-f]{12} +2 .* anna@\S+, boris@\S+$/)
  assert.match(refunds ?? '', /^refunds +2600\.00 ₽ +2 .* anna@\S+$/)
  assert.match(tries ?? '', /^tried codes +5 .* boris@\S+$/)
  assert.deepEqual(others, [])
  const json = await stage.json('signals')
  assert.deepEqual(Object.keys(json), ['days', 'cards', 'banks', 'refunds', 'tries'])
})
