// Limits, pauses and automatic top-ups over HTTP: which need recent proofs, which send e-mails,
// and that the owner's copy contains them.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { PASSWORD } from '../../../test/stages/accounts.ts'
import { type CabinetStage, createCabinetStage } from '../../../test/stages/cabinet.ts'
import { pack } from '../../../test/stages/payments.ts'
import type * as contract from '../contract/contract.ts'
import type { Guards, TopUp } from '../contract/guards.ts'

const at = { stage: undefined as unknown as CabinetStage }
before(async () => {
  const packOf = (id: string) => (id === 'pack-35m' ? { ...pack, id } : undefined)
  at.stage = await createCabinetStage({ payments: { hasTopUps: true, packOf } })
})
after(() => at.stage.end())
afterEach(() => {
  at.stage.clockShift.ms = 0
})

/** Shifts the clock so that sessions are no longer fresh. */
function passFreshness(): void {
  at.stage.clockShift.ms += 11 * 60_000
}

const limits = (dayLimit: string | null, velocity: { limit: string; minutes: number } | null) => ({
  dayLimit,
  velocity,
})

test('looser limits require a recent proof and send an e-mail, stricter ones do not', async () => {
  const own = await at.stage.person('limits')
  const before_ = await own.expectOk<Guards>('GET /api/guards')
  assert.deepEqual(
    [before_.body.dayLimit, before_.body.velocity, before_.body.lowDays, before_.body.blocked],
    [null, null, 3, null],
  )
  passFreshness()
  const velocity = { limit: '1000000', minutes: 10 }
  const set = await own.expectOk<Guards>('POST /api/guards/limits', limits('5000000', velocity))
  assert.equal(set.body.dayLimit?.whole, '5000000')
  assert.deepEqual(set.body.velocity, {
    limit: { whole: '1000000', exact: '1000000' },
    minutes: 10,
  })
  await own.expectOk('POST /api/guards/limits', limits('4000000', velocity))
  const looser = [
    limits('4000001', velocity),
    limits(null, velocity),
    limits('4000000', null),
    limits('4000000', { limit: '1000000', minutes: 9 }),
  ]
  for (const one of looser) {
    assert.equal(await own.refusal('POST /api/guards/limits', one), '403 step_up_needed')
  }
  assert.doesNotMatch((await at.stage.emailKindsTo(own.email)).join(), /limits-loosened/)
  at.stage.clockShift.ms = 0
  await own.expectOk('POST /api/guards/limits', limits(null, null))
  assert.match((await at.stage.emailKindsTo(own.email)).join(), /limits-loosened/)
})

test('refuses wrong limits, and requests without a session or from a foreign origin', async () => {
  const own = await at.stage.person('numbers')
  const wrong = [
    limits('0', null),
    limits('-1', null),
    limits('1.5', null),
    limits('1'.repeat(20), null),
    limits(null, { limit: '1', minutes: 0 }),
    limits(null, { limit: '1', minutes: 1_441 }),
    {},
  ]
  for (const one of wrong) {
    assert.equal(await own.refusal('POST /api/guards/limits', one), '400 field_invalid')
  }
  const letters = { lowCredits: null, lowDays: 91 }
  assert.equal(await own.refusal('POST /api/guards/letters', letters), '400 field_invalid')
  assert.equal(await at.stage.browser().refusal('GET /api/guards'), '401 session_missing')
  const foreign = { origin: 'https://evil.example' }
  assert.equal(await own.refusal('POST /api/guards/resume', {}, foreign), '403 origin_wrong')
})

test('pausing and resuming need no proof', async () => {
  const own = await at.stage.person('pause')
  passFreshness()
  const paused = await own.expectOk<Guards>('POST /api/guards/suspend')
  assert.equal(paused.body.blocked, 'owner_suspended')
  assert.equal((await own.expectOk<contract.Home>('GET /api/home')).body.blocked, 'owner_suspended')
  const resumed = await own.expectOk<Guards>('POST /api/guards/resume')
  assert.equal(resumed.body.blocked, null)
})

test('the owner resumes after a velocity stop; opening the e-mailed link does not', async () => {
  const { stage } = at
  const own = await stage.person('speed')
  await stage.buyPack(own)
  await own.expectOk('POST /api/guards/limits', limits(null, { limit: '100', minutes: 10 }))
  await stage.spend(own.book, 101)
  await assert.rejects(stage.spend(own.book, 1), { code: 'velocity_stopped' })
  await stage.guards.jobs.checkStops()
  const { rows } = await stage.db.query(
    `select body_text as text from letters where recipient = $1 and kind = 'velocity-stopped'`,
    [own.email],
  )
  const [link = ''] = /https:\/\/\S+\/limits/.exec((rows[0] as { text: string }).text) ?? []
  await fetch(`${stage.url}${new URL(link).pathname}`, { headers: own.headers() })
  assert.equal((await own.expectOk<Guards>('GET /api/guards')).body.blocked, 'velocity_stopped')
  passFreshness()
  await own.expectOk('POST /api/guards/resume')
  await stage.spend(own.book, 1)
})

/** The terms of the pack that the page shows. */
const terms = { priceKopecks: '130000', credits: '35000000' }

test('a top-up requires a saved card, the current consent and a recent proof', async () => {
  const { stage } = at
  const own = await stage.person('topup')
  const { body: first } = await own.expectOk<TopUp>('GET /api/top-up')
  assert.deepEqual([first.isOffered, first.mandate, first.method], [true, null, null])
  const { consentVersion } = first
  const agreement = {
    ...{ pack: 'pack-35m', ...terms, consentVersion },
    ...{ threshold: '1000000', dayCeilingKopecks: '260000', monthCeilingKopecks: '500000' },
  }
  assert.equal(await own.refusal('POST /api/top-up', agreement), '409 top_up_refused')

  const buy = { pack: 'pack-35m', method: 'card', attempt: 'keep-1', savesMethod: true }
  const { body: order } = await own.expectOk<contract.Order>('POST /api/orders', buy)
  await stage.sim('pay', { orderId: order.id })
  await own.expectOk(`POST /api/orders/${order.id}/check`)
  const old = { ...agreement, consentVersion: 'yesterday' }
  assert.equal(await own.refusal('POST /api/top-up', old), '404 consent_unknown')
  for (const seen of [{ priceKopecks: '129900' }, { credits: '36000000' }]) {
    assert.equal(
      await own.refusal('POST /api/top-up', { ...agreement, ...seen }),
      '409 pack_changed',
    )
  }
  passFreshness()
  assert.equal(await own.refusal('POST /api/top-up', agreement), '403 step_up_needed')
  const again = { email: own.email, password: PASSWORD }
  stage.clockShift.ms = 0
  await own.expectOk('POST /api/auth/sign-in/email', again)
  const { body: on } = await own.expectOk<TopUp>('POST /api/top-up', agreement)
  assert.deepEqual(
    [on.mandate?.ended, on.method?.title, on.mandate?.pack, on.mandate?.threshold.whole],
    [null, '•••• 4444', 'pack-35m', '1000000'],
  )
  assert.match((await stage.emailKindsTo(own.email)).join(), /top-up-on/)

  await stage.spend(own.book, 34_500_000)
  await stage.payments.jobs.topUp()
  const { body: page } = await own.expectOk<{ orders: contract.Order[] }>('GET /api/orders')
  assert.deepEqual(
    page.orders.map(({ isTopUp, state }) => [isTopUp, state]),
    [
      [true, 'credited'],
      [false, 'credited'],
    ],
  )
  assert.equal((await own.expectOk<TopUp>('GET /api/top-up')).body.monthKopecks, '130000')

  const { body: copy } = await own.expectOk<Record<string, object>>('GET /api/export')
  assert.match(JSON.stringify(copy.payments), /"mandates":\[\{"id":"\d+","version":"2026/)
  assert.match(JSON.stringify(copy.guards), /"lowDays":3/)
  const { body: off } = await own.expectOk<TopUp>('POST /api/top-up/off')
  assert.equal(off.mandate?.ended?.why, 'owner')
})

test('page and e-mail say why a top-up has ended, and the owner can agree again', async () => {
  const { stage } = at
  const own = await stage.person('ended')
  const buy = { pack: 'pack-35m', method: 'card', attempt: 'keep-3', savesMethod: true }
  const { body: order } = await own.expectOk<contract.Order>('POST /api/orders', buy)
  await stage.sim('pay', { orderId: order.id })
  await own.expectOk(`POST /api/orders/${order.id}/check`)
  const { consentVersion } = (await own.expectOk<TopUp>('GET /api/top-up')).body
  const numbers = {
    ...terms,
    threshold: '1000000',
    dayCeilingKopecks: '260000',
    monthCeilingKopecks: '500000',
  }
  const agree = () =>
    own.expectOk<TopUp>('POST /api/top-up', { pack: 'pack-35m', ...numbers, consentVersion })
  assert.equal((await agree()).body.mandate?.credits?.whole, '35000000')
  await own.expectOk(`POST /api/orders/${order.id}/refund`, {
    attempt: 'r1',
    amountKopecks: '10000',
  })
  const { body: refunded } = await own.expectOk<TopUp>('GET /api/top-up')
  assert.equal(refunded.mandate?.ended?.why, 'refunded')
  assert.equal((await agree()).body.mandate?.ended, null)
  const { body: gone } = await own.expectOk<TopUp>('POST /api/top-up/forget')
  assert.deepEqual([gone.mandate?.ended?.why, gone.method], ['forgotten', null])
  const kinds = await stage.emailKindsTo(own.email)
  assert.equal(kinds.filter((kind) => kind === 'top-up-stopped').length, 2)
})

test('closing an account ends its top-up', async () => {
  const { stage } = at
  const own = await stage.person('closing')
  const buy = { pack: 'pack-35m', method: 'card', attempt: 'keep-2', savesMethod: true }
  const { body: order } = await own.expectOk<contract.Order>('POST /api/orders', buy)
  await stage.sim('pay', { orderId: order.id })
  await own.expectOk(`POST /api/orders/${order.id}/check`)
  const { consentVersion } = (await own.expectOk<TopUp>('GET /api/top-up')).body
  const numbers = {
    ...terms,
    threshold: '1000000',
    dayCeilingKopecks: '260000',
    monthCeilingKopecks: '500000',
  }
  await own.expectOk('POST /api/top-up', { pack: 'pack-35m', ...numbers, consentVersion })
  await own.expectOk('POST /api/closing', { unspent: 'forfeit' })
  const { method, mandate } = await stage.payments.topUps.read(own.book)
  assert.deepEqual([method, mandate?.endedWhy], [undefined, 'closed'])
})
