// Tests that rows cannot control the operator's terminal: text from hosts, files, errors and
// clients is printed with its control characters escaped, each row on its own line.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createOperatorStage, type OperatorStage } from '../../test/stages/operator.ts'
import { createLedgerCustomer, type LedgerCustomer } from '../../test/support/ledger-customer.ts'

/** Clears the screen, starts a line of its own, and writes from right to left. */
const HOSTILE = 'x\u001b[2J\r\nthe ledger ties out\u009b1m\u202e'
const ESCAPED = 'x\\x1b[2J\\x0d\\x0athe ledger ties out\\x9b1m\\u202e'
const at = {
  stage: undefined as unknown as OperatorStage,
  customer: undefined as unknown as LedgerCustomer,
}

before(async () => {
  at.stage = await createOperatorStage()
  const { db, ledger } = at.stage
  at.customer = await createLedgerCustomer({ ...ledger, db } as never)
  const { customer } = at
  await ledger.quarantine.add({
    input: customer.settleInput(await customer.hold(10), 3),
    reason: HOSTILE,
  })
  await db.query(
    `insert into instances (id, role, host, spool_directory, started_at, beat_at, lost_at)
     values (77, 'gateway', $1, $1, now(), now(), now() - interval '1 hour')`,
    [HOSTILE],
  )
  await db.query(
    `insert into days (day, state, rows, unverified, checkpointed_at, folder)
     values ('2020-01-01', 'dropped', 1, 0, now(), $1)`,
    [HOSTILE],
  )
})
after(() => at.stage.end())

for (const [command, lineCount] of [
  ['spool list', 2],
  ['quarantine list', 2],
  ['days list', 3],
  // One line says that the test's customer bought by no order.
  ['audit', 7],
] as const) {
  test(`op ${command} escapes the control characters of rows`, async () => {
    const { out, err } = await at.stage.op(command.split(' '), undefined, {}, { columns: 500 })
    assert.ok(out.includes(ESCAPED), out)
    // The lines that op prints are separated by line breaks, and those are all.
    assert.equal(out.split('\n').length, lineCount, out)
    assert.doesNotMatch(`${out}${err}`.replaceAll('\n', ''), /[\p{Cc}\u202a-\u202e]/u)
  })
}

test('escapes plans, questions, reports, errors and the record of an act', async () => {
  const forget = ['spool', 'forget', '77', '--reason', 'x']
  const { code, out, err } = await at.stage.op(forget, ESCAPED)
  assert.equal(code, 0, err)
  assert.equal(out, `77: the spool in ${ESCAPED} of ${ESCAPED} is forgotten`)
  assert.ok(err.includes(`Type ${ESCAPED} to do it`), err)
  const failed = await at.stage.op(['days', 'restore', `2020-01-01${HOSTILE}`])
  const acts = await at.stage.op(['acts'])
  for (const text of [err, failed.err, acts.out]) {
    assert.ok(text.includes('x\\x1b[2J'), text)
    assert.doesNotMatch(text.replaceAll('\n', ''), /[\p{Cc}\u202a-\u202e]/u)
  }
})
