// op reconcile: exits with 0 when both sides agree and with 1 when they differ, names every kind of
// difference, and with --apply credits what was not credited.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { createOperatorStage, type OperatorStage } from '../../../test/stages/operator.ts'
import type { Mismatch } from '../../payments/payments.ts'
import { credits } from '../../units/credits.ts'

const at = { stage: undefined as unknown as OperatorStage }
before(async () => {
  at.stage = await createOperatorStage()
  // In these tests nothing but the operator triggers checks.
  await at.stage.sim('settings', { webhookUrl: '' })
})
after(() => at.stage.end())
afterEach(() => at.stage.sim('faults', {}, 'DELETE'))

/** Today and tomorrow, so that a payment of this second is included. */
const period = ['--to', '2099-12-31']

async function differences(): Promise<readonly Mismatch[]> {
  type Said = { providers: { mismatches: Mismatch[] }[] }
  const { providers } = await at.stage.json<Said>('reconcile', ...period)
  return providers.flatMap(({ mismatches }) => mismatches)
}

async function paid() {
  const book = await at.stage.newBook()
  const { id } = await at.stage.buy(book)
  await at.stage.sim('pay', { orderId: id })
  return { book, id }
}

test('exits with 0 when both sides agree', async () => {
  const { id } = await paid()
  await at.stage.payments.check(id)
  const { code, out } = await at.stage.op(['reconcile', ...period])
  assert.equal(code, 0, out)
  assert.match(out, /yookassa 100500: payments there 1, orders credited here 1; all agree$/)
})

test('names a payment that is not credited, and credits it with --apply', async () => {
  const { book, id } = await paid()
  const [one] = await differences()
  assert.deepEqual([one?.what, one?.order], ['not_credited', id])
  const { code, out } = await at.stage.op(['reconcile', ...period])
  assert.deepEqual([code, /not_credited {2}payment/.test(out)], [1, true])
  assert.equal((await at.stage.ledger.balance(book))?.available, 0n, 'looking changes nothing')
  const applied = await at.stage.op(['reconcile', ...period, '--apply'], 'y')
  assert.deepEqual([applied.code, /all agree$/.test(applied.out)], [0, true], applied.out)
  assert.equal((await at.stage.ledger.balance(book))?.available, credits(35_000_000))
})

test('names a refund in the provider’s merchant portal until --apply', async () => {
  const { id } = await paid()
  await at.stage.payments.check(id)
  await at.stage.sim('refund', { orderId: id })
  const [one] = await differences()
  assert.deepEqual([one?.what, one?.order], ['refunded', id])
  assert.equal((await at.stage.op(['reconcile', ...period, '--apply', '--yes'])).code, 0)
})

test('names a payment that only one side has', async () => {
  const [missing, unknown] = [await paid(), await paid()]
  for (const { id } of [missing, unknown]) await at.stage.payments.check(id)
  // As after restoring a backup: without this the table's triggers would refuse the change.
  await at.stage.db.transaction(async (tx) => {
    await tx.query('set local session_replication_role = replica')
    const other = '2d9f0b2a-000f-5000-8000-1a2b3c4d5e6f'
    const away = 'update orders set id = $2, provider_payment_id = $3 where id = $1'
    await tx.query(away, [missing.id, `${missing.id.slice(0, -4)}beef`, other])
    await tx.query('delete from orders where id = $1', [unknown.id])
  })
  const whats = (await differences()).map(({ what }) => what).toSorted()
  assert.deepEqual(whats, ['order_unknown', 'order_unknown', 'payment_missing'])
})

test('exits with 1 when the provider does not answer', async () => {
  await at.stage.sim('faults', { kind: 'error', when: 'before', method: 'GET' })
  const { code, out } = await at.stage.op(['reconcile', ...period])
  assert.deepEqual([code, /its list could not be read/.test(out)], [1, true])
})
