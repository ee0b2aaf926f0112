// Requests for a second person, as the database keeps them. What happens to commands is tested with
// the commands.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createStaffStage, type StaffStage, type TestOperator } from '../../../test/stages/staff.ts'
import { isRefusal } from '../../platform/refusal.ts'
import { credits } from '../../units/credits.ts'
import type { Staff } from '../staff.ts'

const at = {
  stage: undefined as unknown as StaffStage,
  staff: undefined as unknown as Staff,
  olga: undefined as unknown as TestOperator,
  nina: undefined as unknown as TestOperator,
}
before(async () => {
  at.stage = await createStaffStage()
  at.staff = at.stage.withSettings({ approveGrantsAbove: 100, approveCatalogue: true })
  at.olga = await at.stage.operator('olga', 'admin')
})
after(() => at.stage.end())

const refuses = (code: string) => (error: unknown) => isRefusal(error, code)
const plan = ['anna@example.org', '  gets 200 credits']

function ask(
  need: { readonly kind: 'grant' | 'catalogue'; readonly size: bigint },
  staff = at.staff,
) {
  return staff.approvals.ask({
    ...{ need, by: at.olga.id, command: 'grant anna@example.org 200', plan, compared: plan },
    asked: {
      ...{ usage: 'grant <whom> <credits>', permission: 'credits.grant' as const },
      ...{ args: ['anna@example.org', '200'], options: { reason: 'x' } },
    },
  })
}

const decide = (id: string, by: TestOperator, state: 'running' | 'declined' = 'running') =>
  at.staff.approvals.decide({ id, by: by.id, state, detail: '' })

test('a second person is needed above the limit, and while there is one who may', async () => {
  assert.equal(await ask({ kind: 'grant', size: credits(200) }), undefined, 'nobody else')
  const viewer = await at.stage.operator('viewer', 'viewer')
  assert.equal(await ask({ kind: 'grant', size: credits(200) }), undefined, `not ${viewer.email}`)
  at.nina = await at.stage.operator('nina', 'support')
  assert.equal(await ask({ kind: 'grant', size: credits(100) }), undefined, 'not above')
  assert.equal(await ask({ kind: 'grant', size: credits(200) }, at.stage.staff), undefined, 'off')
  assert.match((await ask({ kind: 'grant', size: credits(200) }))?.id ?? '', /^opa_/)
  assert.match((await ask({ kind: 'catalogue', size: 1n }))?.id ?? '', /^opa_/)
})

test('a request is decided once, in time, by another person, and then names nobody', async () => {
  const { id = '' } = (await ask({ kind: 'grant', size: credits(200) })) ?? {}
  await assert.rejects(decide(id, at.olga), refuses('approval_own'))
  const ends = await Promise.allSettled([decide(id, at.nina), decide(id, at.nina)])
  assert.deepEqual(ends.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  await assert.rejects(decide(id, at.nina), refuses('approval_over'))
  assert.deepEqual((await at.staff.approvals.find(id)).args, ['anna@example.org', '200'])
  await at.staff.approvals.end({ id, state: 'done', detail: 'anna@example.org has them' })
  const { command, args, detail, plan: kept } = await at.staff.approvals.find(id)
  assert.deepEqual([command, args, detail], ['grant [address] 200', [], '[address] has them'])
  assert.deepEqual(kept, ['[address]', '  gets 200 credits'])
  const { id: late = '' } = (await ask({ kind: 'grant', size: credits(200) })) ?? {}
  await at.stage.db.query(
    'update operator_approvals set ends_at = clock_timestamp() where id = $1',
    [late],
  )
  await assert.rejects(decide(late, at.nina), refuses('approval_over'))
  assert.equal((await at.staff.approvals.find(late)).state, 'expired')
  await assert.rejects(decide('opa_none', at.nina), refuses('approval_unknown'))
})

test('only the person who asked takes a request back, while it waits', async () => {
  const { id = '' } = (await ask({ kind: 'grant', size: credits(200) })) ?? {}
  const withdraw = (by: TestOperator) => at.staff.approvals.withdraw({ id, by: by.id })
  await assert.rejects(withdraw(at.nina), refuses('approval_over'))
  await withdraw(at.olga)
  await assert.rejects(withdraw(at.olga), refuses('approval_over'))
})

test('a plan is the same, or the refusal has the lines that differ', async () => {
  const { id = '' } = (await ask({ kind: 'grant', size: credits(200) })) ?? {}
  const found = await at.staff.approvals.find(id)
  at.staff.approvals.requireSame(found, { plan: ['whatever is shown'], compared: plan })
  const now = ['anna@example.org', '  gets 300 credits']
  assert.throws(
    () => at.staff.approvals.requireSame(found, { plan: now, compared: now }),
    (error: unknown) =>
      isRefusal(error, 'approval_changed') &&
      error.message.endsWith('\n-   gets 200 credits\n+   gets 300 credits'),
  )
})
