// op close and op closings: what the plan says, what an account that closes takes no more, and what
// each closing waits for.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { codeIn, type StoredEmail } from '../../test/stages/accounts.ts'
import { createOperatorStage, type OperatorStage } from '../../test/stages/operator.ts'
import { turnClock } from '../../test/support/harness.ts'
import type { OrderId } from '../platform/ids.ts'

const at = { stage: undefined as unknown as OperatorStage }
before(async () => {
  at.stage = await createOperatorStage({}, { approveRefundsAbove: 2_000 })
})
after(() => at.stage.end())

const because = ['--reason', 'asked by letter', '--yes']

/** A worker takes every step that can be taken now. */
async function takeSteps(): Promise<void> {
  for (let i = 0; i < 5; i++) {
    await at.stage.db.query(
      'update account_closings set next_at = ledger_now() where ended_at is null',
    )
    await at.stage.accounts.closings.run()
  }
}

test('op close sends the money back, and op closings says what it waits for', async () => {
  const person = await at.stage.person('anna')
  const { email, book } = person
  const order = await at.stage.buyPack(person)
  await at.stage.sim('hold-refunds', {})
  const { code, err, all } = await at.stage.op(['close', email, ...because])
  assert.equal(code, 0, all)
  assert.match(err, /its key stops now; running requests end/)
  assert.match(err, /then about 1.300.00 RUB of unspent credits goes back, the rest is forfeited/)
  assert.match(all, new RegExp(`the account of book ${book} is closing`))
  await takeSteps()
  const { out } = await at.stage.op(['closings'])
  assert.match(
    out,
    new RegExp(`^${email} {2}drained since .*, begun by the operator, refund$`, 'm'),
  )
  assert.match(out, /^ {2}waits: rfd_\S+ of 1.300.00 RUB: pending$/m)

  const again = await at.stage.op(['close', email, ...because])
  assert.match(again.err, /is closing already: op closings/)
  const gift = await at.stage.op(['adjust', email, '10', ...because])
  assert.equal(gift.code, 1, 'nobody adds credits to an account that closes')

  const [refund] = await at.stage.payments.refunds(book)
  await at.stage.sim('hold-refunds', { isHeld: false })
  await at.stage.sim('complete-refund', { refundId: refund?.refundId ?? '' })
  await turnClock(at.stage.db, '10 minutes')
  await at.stage.payments.jobs.pollRefunds()
  await takeSteps()
  assert.equal((await at.stage.op(['closings'])).out, 'no account is closing')
  const closed = await at.stage.op(['close', String(book), ...because])
  assert.match(closed.err, /is closed already/)
  assert.equal((await at.stage.ledger.balance(book))?.available, 0n)
  assert.equal((await at.stage.payments.refundable(order.id as OrderId)).amountKopecks, 0n)
})

test('with --forfeit nothing goes back, and the plan says how much is lost', async () => {
  const person = await at.stage.person('boris')
  await at.stage.buyPack(person)
  const { code, err } = await at.stage.op(['close', person.email, '--forfeit', ...because])
  assert.equal(code, 0, err)
  assert.match(err, /then 35.000.000 credits are forfeited; refundable now: 1.300.00 RUB/)
  await takeSteps()
  assert.deepEqual(await at.stage.payments.refunds(person.book), [])
  assert.equal((await at.stage.ledger.balance(person.book))?.available, 0n)
})

test('op closings names the week in which a change of address can be undone', async () => {
  const own = await at.stage.person('moves')
  const newEmail = 'moves.new@example.org'
  await own.expectOk('POST /api/auth/email/change', { newEmail })
  const { rows } = await at.stage.db.query(
    `select kind, body_text as text from letters where recipient = $1`,
    [newEmail],
  )
  const code = codeIn(rows[0] as StoredEmail)
  await own.expectOk('POST /api/auth/email/confirm', { code })
  const { code: exit, err } = await at.stage.op(['close', newEmail, ...because])
  assert.equal(exit, 0, err)
  await takeSteps()
  const { out } = await at.stage.op(['closings'])
  assert.match(
    out,
    /moves\.new@example\.org {2}refunded .*\n.*\n {2}waits: a change of its address/,
  )
  await at.stage.db.query(`update email_changes set undo_until = clock_timestamp()`)
  await takeSteps()
  assert.equal((await at.stage.op(['closings'])).out, 'no account is closing')
})

test('above the limit for refunds a second person approves a closing', async () => {
  const olga = await at.stage.people.newcomer('olga', 'finance')
  const nina = await at.stage.people.newcomer('nina', 'finance')
  const person = await at.stage.person('vera')
  await at.stage.buyPack(person)
  await at.stage.buyPack(person)
  const asked = await at.stage.opAs(olga.token, ['close', person.email, ...because, '--json'])
  assert.equal(asked.code, 1, asked.all)
  const { approval } = JSON.parse(asked.out) as { approval: string }
  assert.deepEqual(await at.stage.accounts.closings.list(10), [])
  const approved = await at.stage.opAs(nina.token, ['approvals', 'approve', approval, '--yes'])
  assert.equal(approved.code, 0, approved.err)
  const [closing] = await at.stage.accounts.closings.list(10)
  assert.deepEqual([closing?.email, closing?.begunBy], [person.email, 'operator'])
})

test('what requests hold and no policy refunds needs the second person too', async () => {
  const { people, person, buyPack, opAs, beginRequest } = at.stage
  const zoe = await people.newcomer('zoe', 'finance')
  const as = (...args: string[]) => opAs(zoe.token, ['close', ...args, ...because, '--json'])
  const busy = await person('busy')
  for (let i = 0; i < 2; i += 1) await buyPack(busy)
  const request = await beginRequest(busy.book, 69_000_000)
  for (const more of [[], ['--forfeit']]) {
    const asked = await as(busy.email, ...more)
    assert.equal(asked.code, 1, asked.all)
    assert.match(asked.out, /approval/)
    assert.match(asked.err, /at most 2.600.00 RUB of what was paid ends with it/)
  }
  await request.settle(1)
})

test('a closing is not the one that was approved after another purchase', async () => {
  const { people, person, buyPack, opAs } = at.stage
  const rosa = await people.newcomer('rosa', 'finance')
  const ivan = await people.newcomer('ivan', 'finance')
  const own = await person('grows')
  for (let i = 0; i < 2; i += 1) await buyPack(own)
  const asked = await opAs(rosa.token, ['close', own.email, '--forfeit', ...because, '--json'])
  const { approval } = JSON.parse(asked.out) as { approval: string }
  await buyPack(own)
  const approve = ['approvals', 'approve', approval, '--yes']
  assert.match((await opAs(ivan.token, approve)).err, /approval_changed/)
})

test('a closing counts towards what an operator may move on a day', async () => {
  const limits = { financeRoublesPerDay: 2_000, financeCreditsPerDay: 40_000_000 }
  const stage = await createOperatorStage({}, limits)
  try {
    const olga = await stage.people.newcomer('olga', 'finance')
    const close = async (name: string, ...more: string[]) => {
      const own = await stage.person(name)
      await stage.buyPack(own)
      await stage.beginRequest(own.book, 34_000_000)
      return stage.opAs(olga.token, ['close', own.email, ...more, ...because])
    }
    for (const more of [[], ['--forfeit']]) {
      const first = await close(`first${more.length}`, ...more)
      assert.equal(first.code, 0, first.err)
      assert.match((await close(`second${more.length}`, ...more)).err, /day_limit_exceeded/)
    }
  } finally {
    await stage.end()
  }
})
