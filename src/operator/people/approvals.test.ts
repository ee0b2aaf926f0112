// Four eyes: above a limit a command asks, and another person with the permission lets it run:
// once, in time, and only while its plan is the same.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createOperatorStage, type OperatorStage } from '../../../test/stages/operator.ts'
import type { BookId, OrderId } from '../../platform/ids.ts'
import { credits } from '../../units/credits.ts'
import { kopecks } from '../../units/kopecks.ts'

type Person = Awaited<ReturnType<OperatorStage['people']['newcomer']>>
const at = {
  stage: undefined as unknown as OperatorStage,
  olga: undefined as unknown as Person,
  nina: undefined as unknown as Person,
  vera: undefined as unknown as Person,
}

before(async () => {
  at.stage = await createOperatorStage(
    {},
    { approveAdjustmentsAbove: 1_000, approveRefundsAbove: 100, approveUpstreams: true },
  )
  at.olga = await at.stage.people.newcomer('olga', 'finance')
})
after(() => at.stage.end())

const available = async (book: BookId) => (await at.stage.ledger.balance(book))?.available
const as = (person: Person, ...args: string[]) => at.stage.opAs(person.token, [...args, '--yes'])
const adjust = (book: bigint, amount: string) => ['adjust', `${book}`, amount, '--reason', 'a test']

/** Asks as Olga for 5 000 credits; returns the id of the request. */
async function ask(book: bigint): Promise<string> {
  const { code, out } = await as(at.olga, ...adjust(book, '5000'), '--json')
  assert.equal(code, 1)
  const { isDone, approval } = JSON.parse(out)
  assert.equal(isDone, false)
  return approval
}

test('nobody is asked while no other operator could approve', async () => {
  const book = await at.stage.newBook()
  assert.equal((await as(at.olga, ...adjust(book, '5000'))).code, 0)
  assert.equal(await available(book), credits(5_000))
  at.nina = await at.stage.people.newcomer('nina', 'finance')
  at.vera = await at.stage.people.newcomer('vera', 'support')
})

test('up to the limit a command acts; above it, it asks and changes nothing', async () => {
  const book = await at.stage.newBook()
  assert.equal((await as(at.olga, ...adjust(book, '1000'))).code, 0)
  const { code, out } = await as(at.olga, ...adjust(book, '1000.000001'))
  assert.equal(code, 1)
  assert.match(out, /^nothing was changed yet: another person can approve it until .*\n {2}op app/)
  assert.equal(await available(book), credits(1_000))
  const act = (await at.stage.acts()).at(-1)
  assert.equal(act?.outcome, 'asked')
  assert.match(act?.detail ?? '', /^a second person must approve it: opa_/)
})

test('another person approves, and both are named', async () => {
  const anna = await at.stage.person('anna')
  const { book } = anna
  const { code, out } = await as(at.olga, 'adjust', anna.email, '5000', '--reason', 'x', '--json')
  assert.equal(code, 1)
  const id = JSON.parse(out).approval
  const shown = await as(at.nina, 'approvals', 'show', id)
  assert.match(shown.out, /anna.* available\)\n {4}gets 5 000 credits, against loss/)
  const approved = await as(at.nina, 'approvals', 'approve', id)
  assert.equal(approved.code, 0, approved.err)
  assert.equal(await available(book), credits(5_000))
  const [begun, own, end] = (await at.stage.acts()).slice(-3)
  assert.deepEqual([begun?.outcome, end?.outcome], ['begun', 'done'])
  assert.equal(begun?.by, `nina (${at.nina.id})`)
  assert.equal(own?.by, `olga (${at.olga.id})`)
  assert.match(own?.detail ?? '', new RegExp(`^approved by nina \\(${at.nina.id}\\): entry `))
  const { rows } = await at.stage.db.query(
    'select command, args, options, plan, state from operator_approvals where id = $1',
    [id],
  )
  assert.doesNotMatch(JSON.stringify(rows), /@/, 'history names nobody by address')
  const again = await as(at.nina, 'approvals', 'approve', id)
  assert.match(again.err, /approval_over/)
  assert.equal(await available(book), credits(5_000))
})

test('neither the asker, in any session, nor a role without the permission approves', async () => {
  const book = await at.stage.newBook()
  const id = await ask(book)
  assert.match((await as(at.olga, 'approvals', 'approve', id)).err, /approval_own/)
  const { staff, people } = at.stage
  const begun = await staff.signIn({ ...at.olga, ...people.caller })
  const other = await staff.proveFactor(begun.token, at.olga.code())
  const second = { ...at.olga, token: other.token }
  assert.match((await as(second, 'approvals', 'approve', id)).err, /approval_own/)
  assert.match((await as(at.vera, 'approvals', 'approve', id)).err, /permission_missing/)
  assert.match(
    (await as(at.vera, 'approvals', 'decline', id, '--reason', 'x')).err,
    /permission_mi/,
  )
  await assert.rejects(
    at.stage.db.query(
      `update operator_approvals set state = 'running', decided_by = asked_by where id = $1`,
      [id],
    ),
    /operator_approvals_need_another_person/,
    'the table refuses it too',
  )
  assert.equal(await available(book), 0n)
})

test('of two people who approve at once, one runs it', async () => {
  const zoya = await at.stage.people.newcomer('zoya', 'finance')
  const book = await at.stage.newBook()
  const id = await ask(book)
  const ends = await Promise.all([
    as(at.nina, 'approvals', 'approve', id),
    as(zoya, 'approvals', 'approve', id),
  ])
  assert.deepEqual(ends.map(({ code }) => code).sort(), [0, 1])
  assert.equal(await available(book), credits(5_000))
})

test('a run that its process left is shown as interrupted, and never done again', async () => {
  const book = await at.stage.newBook()
  const id = await ask(book)
  const { approvals } = at.stage.staff
  const state = async () => (await approvals.find(id)).state
  await approvals.decide({ id, by: at.nina.id, state: 'running', detail: '' })
  assert.match(
    (await as(at.nina, 'approvals', 'decline', id, '--reason', 'x')).err,
    /approval_over/,
  )
  assert.equal(await state(), 'running')
  await at.stage.db.query(
    `update operator_approvals set decided_at = decided_at - interval '16 minutes' where id = $1`,
    [id],
  )
  assert.match((await as(at.nina, 'approvals')).out, new RegExp(`^${id} {2}interrupted`, 'm'))
  assert.match((await as(at.nina, 'approvals', 'show', id)).out, /op acts says what it did/)
  assert.match((await as(at.nina, 'approvals', 'approve', id)).err, /approval_over/)
  assert.equal(await available(book), 0n)
  const closed = await as(at.vera, 'approvals', 'decline', id, '--reason', 'nothing was done')
  assert.match(closed.err, /permission_missing/)
  const looked = await as(at.olga, 'approvals', 'decline', id, '--reason', 'nothing was done')
  assert.equal(looked.code, 0, looked.err)
  const { state: end, detail, args } = await approvals.find(id)
  assert.deepEqual([end, detail, args], ['failed', 'interrupted: nothing was done', []])
})

test('a plan that changed is refused, with the difference', async () => {
  const boris = await at.stage.person('boris')
  const id = await ask(boris.book)
  await at.stage.db.query('update accounts set email = $2 where book_id = $1', [
    ...[boris.book, 'another@customer.example'],
  ])
  const { code, err } = await as(at.nina, 'approvals', 'approve', id)
  assert.equal(code, 1)
  assert.match(err, /\n- .*boris.*\n\+ another@customer\.example.* \(approval_changed\)/s)
  assert.equal(await available(boris.book), 0n)
  assert.match((await as(at.nina, 'approvals', 'approve', id)).err, /approval_over/)
})

test('a balance that changed meanwhile does not matter', async () => {
  const book = await at.stage.newBook()
  const id = await ask(book)
  assert.equal((await as(at.nina, ...adjust(book, '7'))).code, 0)
  assert.equal((await as(at.nina, 'approvals', 'approve', id)).code, 0)
  assert.equal(await available(book), credits(5_007))
})

test('an expired request, and one that was declined or taken back, runs no more', async () => {
  const book = await at.stage.newBook()
  const [late, declined, own] = [await ask(book), await ask(book), await ask(book)]
  await at.stage.db.query(
    'update operator_approvals set ends_at = clock_timestamp() where id = $1',
    [late],
  )
  assert.equal((await as(at.nina, 'approvals', 'decline', declined, '--reason', 'no')).code, 0)
  assert.match((await as(at.olga, 'approvals', 'decline', own, '--reason', 'no')).out, /withdrawn$/)
  for (const id of [late, declined, own]) {
    assert.match((await as(at.nina, 'approvals', 'approve', id)).err, /approval_over/, id)
  }
  assert.match((await as(at.nina, 'approvals', 'approve', 'opa_none')).err, /approval_unknown/)
  const { out } = await as(at.nina, 'approvals')
  for (const state of ['expired', 'declined', 'withdrawn'])
    assert.match(out, new RegExp(`  ${state}  `))
  assert.equal(await available(book), 0n)
})

test('a person who may no longer do it, or was disabled, has asked for nothing', async () => {
  const inna = await at.stage.people.newcomer('inna', 'finance')
  const book = await at.stage.newBook()
  const { out } = await as(inna, ...adjust(book, '5000'), '--json')
  const id = JSON.parse(out).approval
  const { people } = at.stage.staff
  await at.stage.db.transaction((tx) => people.changeRole(tx, inna.id, 'support'))
  assert.match((await as(at.nina, 'approvals', 'approve', id)).err, /permission_missing/)
  await at.stage.db.transaction((tx) => people.changeRole(tx, inna.id, 'finance'))
  await at.stage.db.transaction((tx) => people.disable(tx, inna.id))
  assert.match((await as(at.nina, 'approvals', 'approve', id)).err, /no active operator/)
  assert.equal(await available(book), 0n)
})

test('a refund above the limit waits, and is refunded once approved', async () => {
  const dora = await at.stage.person('dora')
  const { id: order } = await at.stage.buyPack(dora)
  const asked = await as(at.vera, 'refund', order, '--reason', 'x', '--json')
  const { approval } = JSON.parse(asked.out)
  assert.match(approval, /^opa_/)
  const { code, err, out } = await as(at.nina, 'approvals', 'approve', approval)
  assert.equal(code, 0, err)
  assert.match(out, /rfd_/)
})

test('weights and credentials wait for a second person; a drain does not', async () => {
  const admin = await at.stage.people.newcomer('admin', 'admin')
  const other = await at.stage.people.newcomer('admin2', 'admin')
  assert.match((await as(admin, 'upstreams', 'weight', 'east', '2')).out, /op approvals approve/)
  assert.equal((await as(admin, 'upstreams', 'drain', 'east')).code, 0)

  // Else one admin could make, become or remove the second person.
  const alone = [
    ['create', 'me2@example.org', '--role', 'admin'],
    ['disable', other.email],
    ['role', other.email, 'viewer'],
    ['reset', other.email],
  ]
  for (const args of alone) {
    const { code, out } = await as(admin, 'operators', ...args)
    assert.equal(code, 1, args.join(' '))
    assert.match(out, /another person can approve it/)
  }
  const { out } = await as(admin, 'operators', 'disable', other.email, '--json')
  assert.equal((await as(other, 'approvals', 'approve', JSON.parse(out).approval)).code, 0)
  assert.match((await as(other, 'whoami')).err, /not signed in/)
  const { rows } = await at.stage.db.query(
    `select count(*)::int4 as mails from letters where kind = 'operators-changed'`,
  )
  assert.notDeepEqual(rows, [{ mails: 0 }])
})

test('a person who was disabled while the question waited does not act', async () => {
  const book = await at.stage.newBook()
  const kira = await at.stage.people.newcomer('kira', 'finance')
  const { code, err } = await at.stage.opAs(kira.token, adjust(book, '10'), async () => {
    await at.stage.db.transaction((tx) => at.stage.staff.people.disable(tx, kira.id))
    return '10'
  })
  assert.equal(code, 1)
  assert.match(err, /operator_session_missing/)
  assert.equal(await available(book), 0n)
})

test('a promo code counts with all its uses towards the day of who makes it', async () => {
  const code = ['promo', 'create', 'SPRING', '600000000', '--until', '2099-01-01', '--times']
  const { err } = await as(at.nina, ...code, '2')
  assert.match(err, /day_limit_exceeded/)
  assert.equal((await as(at.nina, ...code, '1')).code, 0)
})

test('a refund gives back no more than was shown, also if more is free by then', async () => {
  const elsa = await at.stage.person('elsa')
  const { id: order } = await at.stage.buyPack(elsa)
  const refund = { order: order as OrderId, attempt: 'shown', by: 'test', reason: 'x' }
  const { amount } = await at.stage.payments.requestRefund({ ...refund, mostKopecks: kopecks(150) })
  assert.equal(amount, 150n)
})
