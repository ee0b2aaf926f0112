// `op refund` as a database role that may not store what follows the provider's answer: the bank
// has paid, the operator gets a sentence, and a worker with its grants completes the refund.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createTestPayments, type TestPayments } from '../stages/payments.ts'
import { createPlainDbUser, type PlainDbUser } from '../support/plain-db-user.ts'
import { runProgram } from '../support/run-to-end.ts'

const at = {
  room: undefined as unknown as TestPayments,
  dbUser: undefined as unknown as PlainDbUser,
  directory: '',
}
before(async () => {
  at.room = await createTestPayments()
  at.dbUser = await createPlainDbUser(at.room.database)
  at.directory = await mkdtemp(join(tmpdir(), 'tollgate-refund-'))
})
after(async () => {
  await at.dbUser.drop()
  await at.room.end()
  await rm(at.directory, { recursive: true, force: true })
})

function op(...args: readonly string[]) {
  const { bank } = at.room
  const env = {
    DATABASE_URL: at.dbUser.url,
    LEDGER_SPOOL_DIRECTORY: join(at.directory, 'spool'),
    YOOKASSA_URL: bank.apiUrl,
    YOOKASSA_SHOP_ID: bank.shopId,
    YOOKASSA_SECRET_KEY: bank.secretKey,
  }
  return runProgram(['op', ...args], { env })
}

async function refundedAtBank(order: string): Promise<string | undefined> {
  const { payments } = await at.room.sim(`payments?orderId=${order}`, {}, 'GET')
  const [payment] = payments as { refunded_amount?: { value: string } }[]
  return payment?.refunded_amount?.value
}

test('a refund whose answer cannot be stored is explained, and completed by a worker', async () => {
  const { room } = at
  const book = await room.newBook()
  const { id } = await room.buy(book)
  await room.sim('pay', { orderId: id })
  await room.payments.check(id)
  // The e-mail about the refund is enqueued in the transaction that stores the answer.
  await at.dbUser.run('revoke execute on function letters_queue from NAME')

  const { code, err } = await op('refund', id, '--reason', 'asked', '--yes')
  assert.equal(code, 1, err)
  const sentence = new RegExp(
    `has answered about (rfd_\\w+), .*role ${at.dbUser.name} .*EXECUTE on function letters_queue` +
      '.* a worker asks the provider again and completes it',
  )
  assert.match(err, sentence)
  assert.doesNotMatch(err, /^ +at /m)
  assert.equal(await refundedAtBank(id), '1300.00', 'the bank has paid')
  const [stored] = await room.payments.refunds(book)
  assert.equal(stored?.state, 'created')
  assert.equal((await room.ledger.balance(book))?.available, 0n, 'its credits cannot be spent')
  const acts = await room.db.query(`select outcome from operator_acts order by id`)
  assert.deepEqual(acts.rows, [{ outcome: 'begun' }, { outcome: 'failed' }])

  // A worker posts it again 45 s after it was stored.
  await room.db.query(`update refunds set next_at = next_at - interval '1 minute'`)
  await room.payments.jobs.pollRefunds()
  const [completed] = await room.payments.refunds(book)
  assert.equal(completed?.state, 'succeeded')
  assert.equal(await refundedAtBank(id), '1300.00', 'paid once')
  assert.equal((await room.ledger.balance(book))?.available, 0n)
  assert.deepEqual(await room.ledger.audit('all'), [])
})
