// op grant, op adjust, op refund and op statement: once per reference, within the available
// balance, through the provider; the statement shows all of it.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createOperatorStage, type OperatorStage } from '../../../test/stages/operator.ts'
import { credits } from '../../units/credits.ts'

const at = { stage: undefined as unknown as OperatorStage }
before(async () => {
  at.stage = await createOperatorStage()
})
after(() => at.stage.end())

async function owner(name: string) {
  const person = await at.stage.person(name)
  const order = await at.stage.buyPack(person)
  const available = async () => (await at.stage.ledger.balance(person.book))?.available ?? -1n
  return { ...person, order: order.id, available }
}

test('a grant repeated with the same reference is given once per account', async () => {
  const anna = await owner('anna')
  const other = await at.stage.person('boris')
  const before = await anna.available()
  const grant = (to: string) =>
    at.stage.json('grant', to, '1000', '--reason', 'outage', '--ref', 'outage-14')
  const first = await grant(anna.email)
  const again = await grant(`${anna.book}`)
  assert.deepEqual([first.isRepeat, again.isRepeat, again.entry], [false, true, first.entry])
  assert.equal(await anna.available(), before + credits(1_000))
  assert.equal((await grant(other.email)).isRepeat, false)
  const [entry] = await at.stage.ledger.statement({ book: anna.book, beforeSeq: null, limit: 1 })
  assert.deepEqual([entry?.kind, entry?.contra, entry?.note], ['promo', 'promo', 'outage'])
  const { code, err } = await at.stage.op([
    'grant',
    anna.email,
    '2000',
    '--reason',
    'outage',
    '--ref',
    'outage-14',
    '--yes',
  ])
  assert.deepEqual([code, err.includes('used for another amount')], [1, true])
})

test('an adjustment goes up and down against its contra account, never below zero', async () => {
  const vera = await owner('vera')
  const before = await vera.available()
  const adjust = (amount: string, ...more: string[]) =>
    at.stage.json('adjust', vera.email, amount, '--reason', 'counted twice', ...more)
  assert.equal((await adjust('20.5')).isDone, true)
  assert.equal((await adjust('-0.25', '--contra', 'revenue')).isDone, true)
  assert.equal(await vera.available(), before + credits(20) + 250_000n)
  const entries = await at.stage.entries(vera.book)
  assert.deepEqual(
    entries.slice(-2).map(({ kind, amount, contra }) => [kind, amount, contra]),
    [
      ['adjust', 20_500_000n, 'loss'],
      ['adjust', -250_000n, 'revenue'],
    ],
  )
  assert.equal((await adjust('-99999999')).refusal, 'adjust_exceeds_available')
  assert.equal((await at.stage.op(['adjust', vera.email, '0', '--reason', 'x'])).code, 2)
})

test('refunds a part or all of the unspent amount through the provider', async () => {
  const gleb = await owner('gleb')
  const part = ['refund', gleb.order, '--reason', 'asked by telephone', '--amount', '300']
  assert.equal((await at.stage.op(part, '1300')).out, 'nothing was changed')
  const { code, out } = await at.stage.op(part, '300.00')
  assert.equal(code, 0)
  assert.match(out, /^rfd_[0-9a-f]{32} of 300\.00 RUB is succeeded$/)
  await at.stage.spend(gleb.book, 1_000_000)
  const all = ['refund', gleb.order, '--reason', 'the rest', '--ref', 'ticket 5']
  const rest = await at.stage.json(...all)
  assert.deepEqual([rest.isDone, rest.state, rest.amount], [true, 'succeeded', '962.85'])
  const { payments } = await at.stage.sim(`payments?orderId=${gleb.order}`, {}, 'GET')
  const [payment] = payments as [{ refunded_amount: { value: string } }]
  assert.equal(payment.refunded_amount.value, '1262.85')
  const again = await at.stage.json(...all)
  assert.deepEqual([again.isDone, again.refund], [false, rest.refund], 'once per reference')
  const none = await at.stage.op(['refund', gleb.order, '--reason', 'more', '--yes'])
  assert.deepEqual(
    [none.code, none.err.includes('everything of it was refunded or spent')],
    [1, true],
  )
})

test('a statement has every entry, as a table, as JSON and as CSV', async () => {
  const dora = await owner('dora')
  await at.stage.spend(dora.book, 1_287)
  const note = '=HYPERLINK("http://evil.example")'
  await at.stage.op(['grant', dora.email, '5', '--reason', note, '--yes'])
  const { out } = await at.stage.op(['statement', dora.email])
  const rows = out.split('\n').map((line) => line.split(/ {2,}/))
  assert.deepEqual(rows[1], ['when, UTC', 'kind', 'credits', 'balance', 'of'])
  assert.deepEqual(rows[3]?.slice(1), ['charge', '-1 287', '34 998 713', 'model-small complete'])
  assert.equal(rows.at(-1)?.[0], '3 entries: 35 000 005 in, 1 287 out')
  for (const line of out.split('\n')) assert.ok(line.length <= 80, line)

  const { entries } = await at.stage.json<{ entries: Record<string, string>[] }>(
    'statement',
    `${dora.book}`,
  )
  const [, charge] = entries
  assert.match(charge?.request ?? '', /^req_[0-9a-f]{32}$/)
  assert.deepEqual([charge?.credits, charge?.input], ['-1287', '1287'])

  const csv = (await at.stage.op(['statement', dora.order, '--csv'])).out.split('\n')
  assert.equal(csv.length, 4)
  assert.equal(csv[0], Object.keys(charge ?? {}).join(','))
  assert.ok(csv[1]?.endsWith(`,"'=HYPERLINK(""http://evil.example"")",,`), `${csv[1]}`)
})

test('a statement is limited to the given days', async () => {
  const egor = await owner('egor')
  const count = async (...more: string[]) =>
    (await at.stage.json<{ entries: [] }>('statement', egor.email, ...more)).entries.length
  const today = new Date().toISOString().slice(0, 10)
  assert.equal(await count('--from', today, '--to', today), 1)
  assert.equal(await count('--to', '2020-01-01'), 0)
  assert.equal(await count('--from', '2100-01-01'), 0)
  await at.stage.op(['grant', egor.email, '5', '--reason', 'x', '--yes'])
  assert.equal(await count('--limit', '1'), 1)
})
