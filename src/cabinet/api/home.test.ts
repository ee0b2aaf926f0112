// GET /api/home, the overview: its numbers match the ledger, and it has the owner's next step.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type CabinetStage, createCabinetStage } from '../../../test/stages/cabinet.ts'
import { zoneOf } from '../../platform/zone.ts'
import { credits } from '../../units/credits.ts'
import type { Home, NewKey } from '../contract/contract.ts'

const at = { stage: undefined as unknown as CabinetStage }
before(async () => {
  at.stage = await createCabinetStage()
})
after(() => at.stage.end())

test('the next step is to buy, then a key, then a request, then none', async () => {
  const { person, buyPack, spend } = at.stage
  const own = await person('steps')
  const home = async () => (await own.expectOk<Home>('GET /api/home')).body
  const fresh = await home()
  assert.deepEqual(
    [fresh.nextStep, fresh.worth, fresh.pace.daysLeft, fresh.isLow, fresh.lowBelow],
    ['buy', null, null, false, null],
  )
  assert.deepEqual(
    [fresh.days.length, fresh.requests],
    [14, { total: '0', firstAt: null, lastAt: null }],
  )
  await buyPack(own)
  assert.equal((await home()).nextStep, 'key')
  const { body: key } = await own.expectOk<NewKey>('POST /api/key')
  assert.equal((await home()).nextStep, 'key', 'a pending key does not count')
  await own.expectOk(`POST /api/key/${key.id}/confirm`)
  assert.equal((await home()).nextStep, 'request')
  await spend(own.book, 1_000)
  const done = await home()
  assert.deepEqual([done.nextStep, done.requests.total], ['done', '1'])
  assert.equal(done.requests.firstAt, done.requests.lastAt)
})

test('shows balance, worth, pace, and whether the balance is low', async () => {
  const { person, buyPack, spend } = at.stage
  const own = await person('numbers')
  await buyPack(own)
  await spend(own.book, 3_500_000)
  await spend(own.book, 3_500_000)
  const { body: home } = await own.expectOk<Home>('GET /api/home')
  assert.deepEqual(home.balance, {
    available: { whole: '28000000', exact: '28000000' },
    held: { whole: '0', exact: '0' },
    debt: { whole: '0', exact: '0' },
  })
  assert.deepEqual(home.worth, {
    kopecks: '104000',
    pack: {
      credits: { whole: '35000000', exact: '35000000' },
      priceKopecks: '130000',
      kopecksPerMillion: '3715',
    },
  })
  assert.deepEqual(home.pace, {
    overDays: 1,
    creditsPerDay: { whole: '7000000', exact: '7000000' },
    daysLeft: 4,
  })
  const today = home.days.at(-1)
  assert.deepEqual([today?.requests, today?.credits.whole], ['2', '7000000'])
  assert.deepEqual([home.isLow, home.lowBelow?.whole], [false, '3500000'])
  await spend(own.book, 24_600_000)
  assert.equal((await own.expectOk<Home>('GET /api/home')).body.isLow, true)
})

test('the owner’s thresholds decide what is low, on the page and in the e-mail', async () => {
  const { person, buyPack, spend, guards, emailKindsTo } = at.stage
  const own = await person('lines')
  await buyPack(own)
  await spend(own.book, 7_000_000)
  const low = async () => {
    const { isLow, lowBy, lowBelow, lowDays } = (await own.expectOk<Home>('GET /api/home')).body
    return [isLow, lowBy, lowBelow?.whole, lowDays]
  }
  const emailCount = async () =>
    (await emailKindsTo(own.email)).filter((kind) => kind === 'low-balance').length
  // 28 million are left, which is four days at this pace.
  for (const [thresholds, expected] of [
    [{ lowCredits: null, lowDays: 4 }, [false, null, '3500000', 4]],
    [{ lowCredits: credits(28_000_000), lowDays: null }, [false, null, '28000000', null]],
    [{ lowCredits: null, lowDays: null }, [false, null, '3500000', null]],
  ] as const) {
    await guards.setThresholds(own.book, thresholds)
    assert.deepEqual(await low(), expected)
    await guards.jobs.checkBalances()
  }
  assert.equal(await emailCount(), 0)
  for (const [thresholds, expected] of [
    [{ lowCredits: null, lowDays: 5 }, [true, 'days', '3500000', 5]],
    [{ lowCredits: credits(29_000_000), lowDays: 1 }, [true, 'credits', '29000000', 1]],
  ] as const) {
    const before = await emailCount()
    await guards.setThresholds(own.book, thresholds)
    assert.deepEqual(await low(), expected)
    await guards.jobs.checkBalances()
    assert.equal(await emailCount(), before + 1)
  }
  // A tenth of the pack counts only for owners without a threshold.
  await guards.setThresholds(own.book, { lowCredits: credits(1_000), lowDays: null })
  await spend(own.book, 27_000_000)
  assert.deepEqual(await low(), [false, null, '1000', null])
  await guards.setThresholds(own.book, { lowCredits: null, lowDays: null })
  assert.deepEqual(await low(), [true, 'pack', '3500000', null])
})

test('the overview, its notice and the e-mail agree how many days the credits last', async () => {
  const { person, buyPack, spend, guards, db } = at.stage
  const own = await person('one-pace')
  await buyPack(own)
  // The guard has watched for five days; the requests came today.
  await db.query(
    `update guards set pace_at = pace_at - interval '5 days', mark_at = mark_at - interval '2 days'
     where book_id = $1`,
    [own.book],
  )
  await spend(own.book, 7_000_000)
  await guards.setThresholds(own.book, { lowCredits: null, lowDays: 21 })
  const { body: home } = await own.expectOk<Home>('GET /api/home')
  await guards.jobs.checkBalances()
  const { rows } = await db.query(
    `select body_text as text from letters where recipient = $1 and kind = 'low-balance'`,
    [own.email],
  )
  const [, days] = /(?:about|примерно на) (\d+) /.exec((rows[0] as { text: string }).text) ?? []
  assert.deepEqual(
    [home.lowBy, home.lowDays, home.pace.overDays, home.pace.daysLeft, Number(days)],
    ['days', 21, 5, 20, 20],
  )
})

test('days are in the owner’s time zone, or in UTC when the zone does not exist', async () => {
  const { person, buyPack, spend, db } = at.stage
  const own = await person('zones')
  await buyPack(own)
  await spend(own.book, 1_000)
  const homeIn = async (zone: string) =>
    (await own.expectOk<Home>(`GET /api/home?zone=${encodeURIComponent(zone)}`)).body
  for (const zone of ['Pacific/Kiritimati', 'Pacific/Pago_Pago', 'Europe/Moscow']) {
    const { rows } = await db.query(`select to_char(now() at time zone $1, 'YYYY-MM-DD') as day`, [
      zone,
    ])
    const home = await homeIn(zone)
    const last = home.days.at(-1)
    assert.deepEqual(
      [home.zone, last?.day, last?.requests],
      [zone, (rows[0] as { day: string }).day, '1'],
    )
  }
  for (const zone of ['Mars/Olympus', '../../etc', "x'; drop", '']) {
    assert.equal((await homeIn(zone)).zone, 'UTC', zone)
  }
  assert.equal(zoneOf(undefined), 'UTC')
})

test('shows a request that could cost more than what is left of the daily limit', async () => {
  const { person, buyPack, spend, guards } = at.stage
  const own = await person('beyond')
  await buyPack(own)
  const by = { atMs: 0, address: '', allowLooser: () => undefined }
  const dayLimit = credits(868)
  await guards.setLimits(own.book, { dayLimit, velocity: null }, by)
  const shown = async () => (await own.expectOk<Home>('GET /api/home')).body.beyondDayLimit
  assert.equal(await shown(), null)
  await assert.rejects(spend(own.book, 1_292), { code: 'day_limit_reached' })
  const beyond = await shown()
  assert.deepEqual([beyond?.needed.whole, beyond?.left.whole], ['1292', '868'])
  const resetsAt = Date.parse(beyond?.resetsAt ?? '')
  assert.equal(resetsAt % 86_400_000, 0, 'the limit’s day ends at midnight UTC')
  assert.ok(resetsAt > Date.now() && resetsAt <= Date.now() + 86_400_000)
})

test('shows why a book is blocked', async () => {
  const { person, ledger, db } = at.stage
  const own = await person('stopped')
  await ledger.block(db, own.book, 'operator_blocked')
  assert.equal((await own.expectOk<Home>('GET /api/home')).body.blocked, 'operator_blocked')
})
