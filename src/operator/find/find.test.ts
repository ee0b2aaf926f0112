// op find: any id of a customer leads to the customer's overview, which contains no secret.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { CabinetStage } from '../../../test/stages/cabinet.ts'
import { createOperatorStage, type OperatorStage } from '../../../test/stages/operator.ts'
import { requestIdOf } from '../../platform/ids.ts'

type Owner = Awaited<ReturnType<CabinetStage['person']>>
type Found = {
  readonly found: readonly { readonly kind: string; readonly book: string | null }[]
  readonly around: { readonly account: { readonly email: string } | null } | null
}

const at = {
  stage: undefined as unknown as OperatorStage,
  anna: undefined as unknown as Owner,
  order: '',
  key: { id: '', plain: '' },
}

before(async () => {
  at.stage = await createOperatorStage()
  at.anna = await at.stage.person('anna.petrova')
  at.order = (await at.stage.buyPack(at.anna)).id
  at.key = (await at.anna.expectOk<typeof at.key>('POST /api/key')).body
  await at.anna.expectOk(`POST /api/key/${at.key.id}/confirm`)
  await at.stage.spend(at.anna.book, 1_287)
  await at.stage.person('annette')
})
after(() => at.stage.end())

/** The kinds of the results, and the customer whose overview is shown. */
async function found(text: string) {
  const said = await at.stage.json<Found>('find', text)
  return [said.found.map(({ kind }) => kind).join(), said.around?.account?.email]
}

test('finds a customer by every related id', async () => {
  const { anna, order, key, stage } = at
  const refund = await stage.json('refund', order, '--reason', 'x', '--amount', '10')
  const dispute = await stage.json('disputes', 'open', order, '--note', 'x', '--amount', '10')
  const { rows } = await stage.db.query('select provider_payment_id as id from orders')
  const payment = (rows[0] as { id: string }).id
  const charge = (await stage.entries(anna.book)).find(({ kind }) => kind === 'charge')
  const request = charge?.holdId ? requestIdOf(charge.holdId) : ''
  const cases: [string, string][] = [
    [anna.account, 'account'],
    [anna.email.toUpperCase(), 'account'],
    ['petrova', 'account'],
    [`${anna.book}`, 'account'],
    [key.id, 'key'],
    [key.plain.slice(-4), 'key'],
    [order, 'order'],
    [payment, 'order'],
    [String(refund.refund), 'order'],
    [String(dispute.dispute), 'order'],
    [request, 'request'],
  ]
  for (const [text, kind] of cases) {
    assert.deepEqual(await found(text), [kind, anna.email], text)
  }
})

test('finds a request by the id of the vendor, and shows it beside ours', async () => {
  const { anna, stage } = at
  const vendorRequestId = 'req_011CSHoEeqs5C35K2UUqR7Fy'
  await stage.spend(anna.book, 5, { vendorRequestId })
  const charge = (await stage.entries(anna.book)).at(-1)
  const id = charge?.holdId ? requestIdOf(charge.holdId) : ''
  for (const text of [vendorRequestId, id]) {
    assert.deepEqual(await found(text), ['request', anna.email], text)
    const { out } = await stage.op(['find', text])
    assert.match(out, new RegExp(`^request ${id}, complete\n`))
    assert.match(out, new RegExp(`^vendor id +${vendorRequestId}$`, 'm'))
  }
  const { code } = await stage.op(['find', 'req_011CSHoEeqs5C35K2UUqR7Fx'])
  assert.equal(code, 1)
})

test('finds the customer of a session of an agent', async () => {
  const { anna, stage } = at
  const sessionId = '0b6f2a52-6a1c-4f7e-9c35-2a1f6d0c9e77'
  await stage.spend(anna.book, 5, { sessionId })
  await stage.ledger.aggregateUsage()
  assert.deepEqual(await found(sessionId), ['session', anna.email])
  const { out } = await stage.op(['find', sessionId])
  assert.match(out, new RegExp(`^session ${sessionId}, 1 requests, the last `))
})

test('finds things without a customer', async () => {
  const { stage } = at
  const book = await stage.newBook()
  assert.deepEqual(await found(`${book}`), ['book', undefined])
  await stage.json('promo', 'create', 'WINTER-26', '10', '--times', '5', '--until', '2100-01-01')
  assert.deepEqual(await found('winter-26'), ['promo', undefined])
})

test('lists the accounts when a part matches several addresses', async () => {
  const { code, out } = await at.stage.op(['find', 'ann'])
  assert.equal(code, 0)
  assert.match(out, /^account +book +e-mail\nacc_\S+ +\d+ +anna.petrova@.*\nacc_\S+ +\d+ +annette@/)
})

test('the overview of a customer fits a screen and has no secret', async () => {
  const { out } = await at.stage.op(['find', at.order])
  const { rows } = await at.stage.db.query('select hash from keys')
  const secrets = [at.key.plain, (rows[0] as { hash: string }).hash, 'confirmation', 'http']
  for (const secret of secrets) assert.ok(!out.includes(secret), secret)
  for (const line of out.split('\n')) assert.ok([...line].length <= 80, line)
  for (const fact of [at.anna.email, at.anna.account, at.key.id, '1 300.00', at.order]) {
    assert.ok(out.includes(fact), fact)
  }
})

test('a pasted key is shown by its last four characters only', async () => {
  const { code, out, err } = await at.stage.op(['find', at.key.plain])
  assert.equal(code, 0)
  assert.match(err, /whole API key/)
  assert.ok(!(out + err).includes(at.key.plain.slice(0, -4)))
  assert.ok(out.includes(at.anna.email))
})

test('exits with 1 and the nearest suggestion when nothing is found', async () => {
  const cases: [string, RegExp][] = [
    ['anna.petrova@exmaple.org', /did you mean anna.petrova@example.org\?/],
    ['ana.petrova@example.org', /did you mean anna.petrova@example.org\?/],
    [at.order.slice(0, -1), /come 32 digits, not 31/],
    ['WINTER-62', /did you mean WINTER-26\?/],
    ['msg_01abc', /ask for the request id/],
    ['req_00000000000070008000000000000000', /only in the statement/],
    ['nobody at all', /nothing is called/],
  ]
  for (const [text, pattern] of cases) {
    const { code, out, err } = await at.stage.op(['find', text])
    assert.deepEqual([code, out], [1, ''], text)
    assert.match(err, pattern)
  }
})

test('commands that move credits require the whole address', async () => {
  for (const text of ['petrova', 'ann', 'anna.petrova@example', at.key.plain.slice(-4)]) {
    const { code } = await at.stage.op(['grant', text, '5', '--reason', 'x', '--yes'])
    assert.equal(code, 1, text)
  }
})
