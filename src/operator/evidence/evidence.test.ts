// Disputes with deadlines, and the file that is sent to the bank.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createOperatorStage, type OperatorStage } from '../../../test/stages/operator.ts'
import { turnClock } from '../../../test/support/harness.ts'

let stage: OperatorStage

before(async () => {
  stage = await createOperatorStage()
})
after(() => stage.end())

async function disputed(name: string, ...options: string[]) {
  const person = await stage.person(name)
  const { id: order } = await stage.buyPack(person)
  await stage.spend(person.book, 1_287, { sessionId: '0b6f2a52-6a1c-4f7e-9c35-0123456789ab' })
  const opened = ['disputes', 'open', order, '--note', 'letter 17', ...options]
  const { dispute } = await stage.json<{ dispute: string }>(...opened)
  return { ...person, order, dispute }
}

const dayFromNow = (days: number) =>
  new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)

test('lists open disputes by their deadlines, marks those that are over', async () => {
  const late = await disputed('late', '--until', dayFromNow(9))
  const soon = await disputed('soon', '--until', dayFromNow(2))
  const unsaid = await disputed('unsaid')
  const { out } = await stage.op(['disputes'])
  const ids = [...out.matchAll(/^dispute (\S+)/gm)].map(([, id]) => id)
  assert.deepEqual(ids, [soon.dispute, unsaid.dispute, late.dispute])
  assert.match(out, new RegExp(`answer by ${dayFromNow(10)} 00:00:00 UTC`), 'to the day’s end')
  assert.match(out, new RegExp(`answer by ${dayFromNow(5)} \\d\\d:`), 'five days without a word')
  assert.doesNotMatch(out, /OVERDUE/)
  const past = { ...stage.modules.clock, nowMs: () => Date.now() + 4 * 86_400_000 }
  const later = await stage.op(['disputes'], undefined, { clock: past })
  assert.equal(later.out.match(/OVERDUE since/g)?.length, 1)
})

test('a deadline that has passed is refused', async () => {
  const person = await stage.person('passed')
  const { id } = await stage.buyPack(person)
  const open = ['disputes', 'open', id, '--note', 'x', '--until', '2026-01-01']
  assert.equal((await stage.json(...open)).refusal, 'order_state_wrong')
})

test('the file has purchase, consents, delivery, use and refunds, with zones', async () => {
  await turnClock(stage.db, '0 seconds')
  const anna = await disputed('anna')
  const { code, out } = await stage.op(['disputes', 'evidence', anna.dispute, '--language', 'en'])
  assert.equal(code, 0)
  const text = out.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')
  assert.match(out, /^<!doctype html><html lang="en">/)
  for (const part of [anna.dispute, anna.order, anna.email, '1 300.00 RUB', '35 000 000']) {
    assert.ok(text.includes(part), part)
  }
  assert.match(text, /Paid 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d \+03:00/)
  assert.match(text, /Address confirmed by a link in an e-mail 20\d\d-/)
  const { rows: consents } = await stage.db.query(
    `select document, version from account_consents c join accounts a on a.id = c.account_id
     where a.book_id = $1`,
    [anna.book],
  )
  assert.ok(consents.length > 0)
  for (const { document, version } of consents as { document: string; version: string }[]) {
    assert.ok(text.includes(`${document} ${version}`), `${document} in its version`)
  }
  assert.match(text, /Credits added to the balance 20\d\d-/)
  assert.match(text, /Spent of this pack 1 287 On hold for the dispute, or refunded 34 998 713/)
  assert.match(text, /Requests 1 Of them charged 1/)
  assert.match(text, /req_[0-9a-f]{32} model-small 1 287 0b6f2a52/)
  assert.doesNotMatch(out, /<script|https?:/, 'nothing is loaded from elsewhere')
})

test('the file is Russian by default, and JSON for a program', async () => {
  const vera = await disputed('vera')
  const { out } = await stage.op(['disputes', 'evidence', vera.order])
  assert.match(out, /<html lang="ru">[\s\S]*Материалы по спору/)
  const json = await stage.json<{ order: { id: string }; use: { spent: string }[] }>(
    ...['disputes', 'evidence', vera.dispute],
  )
  assert.deepEqual([json.order.id, json.use[0]?.spent], [vera.order, '1287'])
  const none = await stage.op(['disputes', 'evidence', 'dsp_12'])
  assert.deepEqual([none.code, /32 digits, not 2/.test(none.err)], [1, true])
})

test('text of a customer cannot become markup', async () => {
  const gleb = await disputed('gleb')
  await stage.db.query('alter table orders disable trigger user')
  await stage.db.query(`update orders set pack_title = '<b onclick="x">pack</b>' where id = $1`, [
    gleb.order,
  ])
  await stage.db.query('alter table orders enable trigger user')
  const { out } = await stage.op(['disputes', 'evidence', gleb.dispute])
  assert.doesNotMatch(out, /<b /)
  assert.match(out, /&#60;b onclick/)
})

test('reading the file leaves a line, and needs the permission', async () => {
  const egor = await disputed('egor')
  const support = await stage.people.newcomer('olga', 'support')
  const viewer = await stage.people.newcomer('viktor', 'viewer')
  const read = (token: string) => stage.opAs(token, ['disputes', 'evidence', egor.dispute])
  assert.equal((await read(support.token)).code, 0)
  const { rows } = await stage.db.query(
    'select command from operator_reads order by at desc limit 1',
  )
  assert.deepEqual(rows, [{ command: `disputes evidence ${egor.dispute}` }])
  assert.equal((await read(viewer.token)).code, 1)
})
