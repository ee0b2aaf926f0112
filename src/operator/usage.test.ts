// Tests of op usage: what replies reported and the catalogue does not list.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createOperatorStage, type OperatorStage } from '../../test/stages/operator.ts'
import { turnClock } from '../../test/support/harness.ts'
import { createLedgerCustomer, type LedgerCustomer } from '../../test/support/ledger-customer.ts'

const at = {
  stage: undefined as unknown as OperatorStage,
  customer: undefined as unknown as LedgerCustomer,
}

before(async () => {
  at.stage = await createOperatorStage()
  const { db, ledger } = at.stage
  at.customer = await createLedgerCustomer({ ...ledger, db } as never)
})
after(() => at.stage.end())

async function reply(unlisted: readonly string[]): Promise<void> {
  const { stage, customer } = at
  const settle = customer.settleInput(await customer.hold(100), 3)
  await stage.ledger.settle({ ...settle, ...(unlisted.length > 0 ? { parts: { unlisted } } : {}) })
}

test('says that there is nothing', async () => {
  await reply([])
  const { code, out } = await at.stage.op(['usage', 'unknown'])
  assert.equal(out, 'no reply of the last 30 days has usage that the catalogue lacks')
  assert.equal(code, 0)
})

test('counts replies by model and member, of the last days', async () => {
  await reply(['speed'])
  await turnClock(at.stage.db, '2 days')
  await reply(['speed', 'server_tool_use.draw'])
  await turnClock(at.stage.db, '3 days')
  const { code, out } = await at.stage.op(['usage', 'unknown'])
  assert.equal(code, 1)
  const rows = out.split('\n').map((line) => line.split(/ {2,}/).slice(0, 3))
  assert.deepEqual(rows, [
    ['model', 'member', 'replies'],
    ['model', 'server_tool_use.draw', '1'],
    ['model', 'speed', '2'],
  ])
  type Unknown = { member: string; replies: number; firstAt: string; lastAt: string }
  const { days, unknown } = await at.stage.json<{ days: number; unknown: Unknown[] }>(
    ...['usage', 'unknown', '--days', '2'],
  )
  assert.equal(days, 2)
  assert.deepEqual(
    unknown.map(({ member, replies }) => `${member} ${replies}`),
    ['server_tool_use.draw 1', 'speed 1'],
  )
  assert.equal(unknown[0]?.firstAt, unknown[0]?.lastAt)
})

test('refuses a number of days that is none', async () => {
  for (const days of ['0', '401', 'x']) {
    assert.equal((await at.stage.op(['usage', 'unknown', '--days', days])).code, 2, days)
  }
})
