// op recover and op unlock: answers are compared and not kept, two matches begin a recovery, four
// eyes see it, and nothing of it lets anybody in.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  enableSecondFactor,
  expect,
  nextCode,
  PASSWORD,
  totpCode,
} from '../../../test/stages/accounts.ts'
import { createOperatorStage, type OperatorStage } from '../../../test/stages/operator.ts'

const at = { stage: undefined as unknown as OperatorStage }
before(async () => {
  at.stage = await createOperatorStage()
})
after(() => at.stage.end())

const wrongCode = (uri: string) => String((Number(totpCode(uri)) + 1) % 1_000_000).padStart(6, '0')

/** Browsers of this stage name the whole route. */
const authOf = ({ send }: Pick<ReturnType<OperatorStage['browser']>, 'send'>) => ({
  post: (path: string, body: unknown = {}) => send(`POST /api/auth${path}`, body),
})

const because = ['--reason', 'a customer called', '--yes']

async function owner(name: string) {
  const person = await at.stage.person(name)
  const order = await at.stage.buyPack(person)
  const { body: key } = await person.expectOk<{ id: string; plain: string }>('POST /api/key')
  await person.expectOk(`POST /api/key/${key.id}/confirm`)
  const rubles = `${BigInt(order.priceKopecks) / 100n}.00`
  const day = (order.creditedAt ?? order.createdAt).slice(0, 10)
  return Object.assign(person, { key, payment: `${rubles} ${day}` })
}

const check = (email: string, answers: Readonly<Record<string, string>>) =>
  at.stage.op(
    ['recover', 'check', email, ...Object.keys(answers).map((step) => `--${step}`)],
    (question) =>
      Object.entries({ payment: /payment/, card: /card/, request: /request/, key: /key/ })
        .filter(([, pattern]) => pattern.test(question))
        .map(([step]) => answers[step] ?? '')[0] ?? '',
  )

test('answers are compared, and only which step matched is kept', async () => {
  const { email, payment, key } = await owner('anna')
  const wrong = await check(email, { payment: '1.00 2020-01-01', card: '4444' })
  assert.equal(wrong.out, 'payment does not match, card does not match', wrong.err)
  const right = await check(email, { payment, key: key.plain })
  assert.deepEqual([right.code, right.out], [0, 'payment matches, key matches'], right.err)
  const { rows } = await at.stage.db.query(
    `select (select json_agg(c)::text from account_identity_checks c) ||
       (select json_agg(a)::text from operator_acts a) as kept`,
  )
  const { kept } = rows[0] as { kept: string }
  for (const said of [key.plain, key.plain.slice(-12), payment.split(' ')[0] ?? '', '2020-01-01']) {
    assert.ok(!kept.includes(said), said)
  }
})

test('what nobody answered counts as no wrong answer', async () => {
  const { email, key } = await owner('rita')
  const skipped = await check(email, { payment: '', key: key.plain })
  assert.deepEqual([skipped.code, skipped.out], [0, 'key matches'], skipped.err)
  const nothing = await check(email, { payment: '' })
  assert.match(nothing.err, /nothing was typed/)
  const ask = ['recover', 'check', email, '--payment', '--key']
  const ended = await at.stage.op(ask)
  assert.match(ended.err, /the input ended/)
  const piped = await at.stage.op(ask, () => '1.00 2020-01-01', {}, { isInteractive: false })
  assert.match(piped.err, /needs a terminal/)
  const { rows } = await at.stage.db.query(
    `select is_matched from account_identity_checks c join accounts a on a.id = c.account_id
     where a.email = $1`,
    [email],
  )
  assert.deepEqual(rows, [{ is_matched: true }])
})

test('the day of a payment is that of the payer, in whatever time zone', async () => {
  const { email, payment, book } = await owner('zoe')
  const [rubles = '', day = ''] = payment.split(' ')
  const shifted = (days: number) =>
    new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10)
  // A purchase at 22:30 UTC is one of the next day in Moscow. No program may move a credit.
  await at.stage.db.query(
    `do $$ begin
       set local session_replication_role = replica;
       update orders set credited_at = (date '${day}' + time '22:30') at time zone 'UTC'
       where book_id = ${book};
     end $$`,
  )
  const answer = async (said: string) => (await check(email, { payment: `${rubles} ${said}` })).out
  assert.equal(await answer(day), 'payment matches')
  assert.equal(await answer(shifted(1)), 'payment matches')
  assert.equal(await answer(shifted(2)), 'payment does not match')
  assert.equal(await answer(shifted(-1)), 'payment does not match')
})

test('two matches begin a recovery of the mailbox; the key stops if others know it', async () => {
  const { email, payment, key, book } = await owner('boris')
  const args = ['recover', 'begin', email, '--mailbox', 'boris-new@example.org', ...because]
  const early = await at.stage.op(args)
  assert.match(early.err, /identity_unproven/)
  await check(email, { payment, key: key.plain })
  const begun = await at.stage.op([...args, '--compromised'])
  assert.equal(begun.code, 0, begun.err)
  assert.match(begun.err, /its key stops now/)
  assert.equal((await at.stage.keys.find(book)).active, undefined)
  const kinds = await at.stage.emailKindsTo('boris-new@example.org')
  assert.deepEqual(kinds, ['recovery-confirm'])
  const shown = await at.stage.op(['recover', 'show', email])
  assert.match(shown.out, /mailbox, begun by the operator .*its mailbox can confirm it until/s)
  const stopped = await at.stage.op(['recover', 'stop', email, ...because])
  assert.match(stopped.out, /is stopped/)
  assert.match((await at.stage.op(['recover', 'stop', email, ...because])).out, /no recovery/)
})

test('what is typed wrongly is refused before anything is read', async () => {
  const { email } = await owner('vera')
  assert.equal((await at.stage.op(['recover', 'begin', email, ...because])).code, 2)
  const odd = ['recover', 'begin', email, '--mailbox', 'nowhere', ...because]
  assert.equal((await at.stage.op(odd)).code, 2)
  assert.equal((await at.stage.op(['recover', 'check', email])).code, 2)
})

test('with four eyes on, a recovery begins only when a second person approves it', async () => {
  const stage = await createOperatorStage({}, { approveRefundsAbove: 100 })
  try {
    const olga = await stage.people.newcomer('olga', 'support')
    const vera = await stage.people.newcomer('vera', 'support')
    const person = await stage.person('dina')
    const order = await stage.buyPack(person)
    const { body: key } = await person.expectOk<{ id: string; plain: string }>('POST /api/key')
    await person.expectOk(`POST /api/key/${key.id}/confirm`)
    const day = (order.creditedAt ?? order.createdAt).slice(0, 10)
    const paid = `${BigInt(order.priceKopecks) / 100n}.00 ${day}`
    await stage.opAs(olga.token, ['recover', 'check', person.email, '--payment', '--key'], (ask) =>
      /payment/.test(ask) ? paid : key.plain,
    )
    const begin = ['recover', 'begin', person.email, '--authenticator', ...because, '--json']
    const asked = await stage.opAs(olga.token, begin)
    assert.equal(asked.code, 1, asked.all)
    const { approval } = JSON.parse(asked.out) as { approval: string }
    assert.equal(await stage.accounts.recovery.living(person.account), undefined)
    const approve = ['approvals', 'approve', approval, '--yes']
    assert.match((await stage.opAs(olga.token, approve)).err, /approval_own/)
    const approved = await stage.opAs(vera.token, approve)
    assert.equal(approved.code, 0, approved.err)
    assert.notEqual(await stage.accounts.recovery.living(person.account), undefined)
  } finally {
    await stage.end()
  }
})

test('unlock says why an owner is locked out, and forgets the counts', async () => {
  const person = await owner('gleb')
  const { email } = person
  const { uri } = await enableSecondFactor(authOf(person))
  const signIn = async () => {
    const browser = authOf(at.stage.browser())
    expect(await browser.post('/sign-in/email', { email, password: PASSWORD }), 200)
    return browser
  }
  for (const _ of [1, 2]) {
    const guesser = await signIn()
    for (let i = 0; i < 5; i += 1) {
      await guesser.post('/two-factor/verify-totp', { code: wrongCode(uri) })
    }
  }
  const guesser = authOf(at.stage.browser())
  for (let i = 0; i < 12; i += 1) {
    await guesser.post('/sign-in/email', { email, password: `guess ${i}` })
  }
  const { code, err, out } = await at.stage.op(['unlock', email, ...because])
  assert.equal(code, 0, err)
  assert.match(err, /wrong passwords keep unknown browsers out until/)
  assert.match(err, /wrong codes lock its second factor until/)
  assert.match(out, /is unlocked/)
  const again = await at.stage.op(['unlock', email, ...because])
  assert.match(again.err, /no guesses of its password/)
  assert.match(again.err, /wrong codes since the last right one: 0\n/)
  const freed = await signIn()
  expect(await freed.post('/two-factor/verify-totp', { code: nextCode(uri) }), 200)
})
