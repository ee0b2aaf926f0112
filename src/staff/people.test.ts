// Who the operators are: the first one, roles, disabling, resets, and the last admin.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { createStaffStage, type StaffStage } from '../../test/stages/staff.ts'
import { isRefusal } from '../platform/refusal.ts'
import { may, permissions, ROLES } from './permissions.ts'

let stage: StaffStage
beforeEach(async () => {
  stage = await createStaffStage()
})
afterEach(() => stage.end())

const refuses = (code: string) => (error: unknown) => isRefusal(error, code)

test('of two people who are the first at once, one is', async () => {
  const create = (name: string) =>
    stage.db.transaction((tx) =>
      stage.staff.people.create(tx, {
        email: `${name}@gate.example`,
        name,
        role: 'admin',
        by: 'machine',
        isFirst: true,
      }),
    )
  const ends = await Promise.allSettled([create('olga'), create('nina'), create('vera')])
  const refused = ends.filter((one) => one.status === 'rejected')
  assert.equal(refused.length, 2)
  for (const { reason } of refused) assert.ok(isRefusal(reason, 'operator_not_first'))
  assert.deepEqual(await stage.staff.people.count(), { all: 1, active: 0 })
})

test('an address is one operator’s, in any spelling', async () => {
  await stage.invite('olga', 'viewer')
  await assert.rejects(stage.invite('OLGA', 'admin'), refuses('operator_exists'))
  assert.equal((await stage.staff.people.find('Olga@Gate.Example'))?.role, 'viewer')
  await assert.rejects(stage.staff.people.requireOperator('nobody'), refuses('operator_unknown'))
})

test('disabling ends the sessions at once, and an enabled one signs in as before', async () => {
  const olga = await stage.operator('olga', 'admin')
  const nina = await stage.operator('nina', 'support')
  const { token } = await stage.signIn(nina)
  const { people } = stage.staff
  await stage.db.transaction((tx) => people.disable(tx, nina.id))
  assert.equal(await stage.staff.findSession(token), undefined)
  await assert.rejects(
    stage.staff.signIn({ ...nina, ...stage.caller }),
    refuses('sign_in_wrong'),
    'as an unknown one',
  )
  await stage.db.transaction((tx) => people.enable(tx, nina.id))
  stage.clock.turn(60_000)
  assert.equal((await stage.signIn(nina)).session.missing, null)
  assert.equal((await people.find(olga.id))?.state, 'active')
})

test('the last active admin is not disabled, demoted or reset, also by two at once', async () => {
  const { people } = stage.staff
  const one = await stage.operator('one', 'admin')
  const two = await stage.operator('two', 'admin')
  const ends = await Promise.allSettled([
    stage.db.transaction((tx) => people.disable(tx, one.id)),
    stage.db.transaction((tx) => people.changeRole(tx, two.id, 'viewer')),
  ])
  assert.deepEqual(ends.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  const last = (await people.list()).find(
    ({ role, state }) => role === 'admin' && state === 'active',
  )
  const refused = refuses('operator_last_admin')
  const id = last?.id ?? ''
  await assert.rejects(
    stage.db.transaction((tx) => people.disable(tx, id)),
    refused,
  )
  await assert.rejects(
    stage.db.transaction((tx) => people.reset(tx, id)),
    refused,
  )
})

test('a reset takes password, app, passkeys and sessions away', async () => {
  await stage.operator('olga', 'admin')
  const nina = await stage.operator('nina', 'support')
  const { token } = await stage.signIn(nina)
  const { code } = await stage.db.transaction((tx) => stage.staff.people.reset(tx, nina.id))
  assert.equal(await stage.staff.findSession(token), undefined)
  await assert.rejects(stage.staff.signIn({ ...nina, ...stage.caller }), refuses('sign_in_wrong'))
  const password = 'another sentence 2'
  const begun = await stage.staff.acceptInvitation({ ...stage.caller, code, password })
  assert.equal((await stage.enrol(begun.token)).session.missing, null)
})

test('a role change holds in sessions that are open', async () => {
  const nina = await stage.operator('nina', 'support')
  const { token } = await stage.signIn(nina)
  await stage.db.transaction((tx) => stage.staff.people.changeRole(tx, nina.id, 'viewer'))
  const session = await stage.staff.findSession(token)
  assert.equal(session?.operator.role, 'viewer')
})

test('a higher role may do all that a lower one may, and no role all but admin', () => {
  for (const permission of permissions) {
    const allowed = ROLES.map((role) => may(role, permission))
    assert.deepEqual(allowed, allowed.toSorted(), permission)
    assert.ok(may('admin', permission))
  }
  for (const role of ROLES.slice(0, -1)) {
    assert.ok(
      permissions.some((permission) => !may(role, permission)),
      role,
    )
  }
})
