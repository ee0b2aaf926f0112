// What an operator may move on a day, and unattended tokens.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createStaffStage, type StaffStage } from '../../../test/stages/staff.ts'
import { isRefusal } from '../../platform/refusal.ts'
import { credits } from '../../units/credits.ts'

const at = { stage: undefined as unknown as StaffStage }
before(async () => {
  at.stage = await createStaffStage()
})
after(() => at.stage.end())

const refuses = (code: string) => (error: unknown) => isRefusal(error, code)

test('two at once move no more than a day’s limit; the next day begins at nothing', async () => {
  const { db } = at.stage
  const staff = at.stage.withSettings({ supportCreditsPerDay: 100, supportRoublesPerDay: 1 })
  const { id } = await at.stage.operator('olga', 'support')
  const who = { operator: id, role: 'support' as const }
  const move = (kind: 'credits' | 'kopecks', amount: bigint) =>
    db.transaction((tx) => staff.limits.count(tx, who, { kind, amount }))
  const ends = await Promise.allSettled([60, 60, 60].map((one) => move('credits', credits(one))))
  assert.equal(ends.filter(({ status }) => status === 'fulfilled').length, 1)
  const limit = refuses('day_limit_exceeded')
  await assert.rejects(move('credits', credits(40) + 1n), limit)
  await move('credits', credits(40))
  await assert.rejects(move('kopecks', 101n), limit, 'each kind has its own')
  const day = (await move('kopecks', 100n)) ?? ''
  await staff.limits.giveBack(id, day, { kind: 'kopecks', amount: 100n })
  await move('kopecks', 100n)
  await db.query('update operator_day_sums set day = day - 1')
  await move('credits', credits(100))
  const viewer = { operator: id, role: 'viewer' as const }
  const nothing = db.transaction((tx) =>
    staff.limits.count(tx, viewer, { kind: 'credits', amount: 1n }),
  )
  await assert.rejects(nothing, limit)
})

test('what is refused after midnight goes back to the day it was counted in', async () => {
  const { db } = at.stage
  const staff = at.stage.withSettings({ supportRoublesPerDay: 1 })
  const { id } = await at.stage.operator('nina', 'support')
  const amount = { kind: 'kopecks', amount: 100n } as const
  const who = { operator: id, role: 'support' as const }
  const move = () => db.transaction((tx) => staff.limits.count(tx, who, amount))
  await move()
  const { rows } = await db.query(
    `update operator_day_sums set day = day - 1 where operator_id = $1 returning day::text`,
    [id],
  )
  await move()
  await staff.limits.giveBack(id, (rows[0] as { day: string }).day, amount)
  await assert.rejects(move(), refuses('day_limit_exceeded'))
})

test('a token is found while it is in force, and stored as a digest', async () => {
  const { db, staff } = at.stage
  const made = { name: 'nightly', role: 'viewer' as const, days: 1, by: 'test' }
  const create = () => db.transaction((tx) => staff.tokens.create(tx, made))
  const { token } = await create()
  assert.equal((await staff.tokens.find(token))?.name, 'nightly')
  assert.equal(await staff.tokens.find(`${token}x`), undefined)
  await assert.rejects(create(), refuses('token_exists'))
  const { rows } = await db.query('select t::text as text from operator_tokens t')
  assert.ok(!JSON.stringify(rows).includes(token))
  await db.query('update operator_tokens set ends_at = clock_timestamp()')
  assert.equal(await staff.tokens.find(token), undefined, 'it has ended')
  await db.transaction((tx) => staff.tokens.revoke(tx, 'nightly'))
  await assert.rejects(
    db.transaction((tx) => staff.tokens.revoke(tx, 'nightly')),
    refuses('token_unknown'),
  )
  await create()
  assert.throws(() => staff.refuseToken('nightly'), refuses('token_not_for_command'))
})
