// The first page over HTTP: its numbers are the ledger's, and its next step is the owner's own.
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

test('the next step goes from buying to a key to a request to nothing', async () => {
  const { person, bought, spend } = at.stage
  const own = await person('steps')
  const home = async () => (await own.must<Home>('GET /api/home')).body
  const fresh = await home()
  assert.deepEqual(
    [fresh.nextStep, fresh.worth, fresh.pace.daysLeft, fresh.isLow, fresh.lowBelow],
    ['buy', null, null, false, null],
  )
  assert.deepEqual(
    [fresh.days.length, fresh.requests],
    [14, { total: '0', firstAt: null, lastAt: null }],
  )
  await bought(own)
  assert.equal((await home()).nextStep, 'key')
  const { body: key } = await own.must<NewKey>('POST /api/key')
  assert.equal((await home()).nextStep, 'key', 'a pending key opens nothing')
  await own.must(`POST /api/key/${key.id}/confirm`)
  assert.equal((await home()).nextStep, 'request')
  await spend(own.book, 1_000)
  const done = await home()
  assert.deepEqual([done.nextStep, done.requests.total], ['done', '1'])
  assert.equal(done.requests.firstAt, done.requests.lastAt)
})

test('what is left, what it cost, how long it lasts, and when it is low', async () => {
  const { person, bought, spend } = at.stage
  const own = await person('numbers')
  await bought(own)
  await spend(own.book, 3_500_000)
  await spend(own.book, 3_500_000)
  const { body: home } = await own.must<Home>('GET /api/home')
  assert.deepEqual(home.balance, {
    available: { whole: '28000000', exact: '28000000' },
    held: { whole: '0', exact: '0' },
    debt: { whole: '0', exact: '0' },
  })
  assert.deepEqual(home.worth, {
    kopecks: '104000',
    packName: '35 million credits',
    kopecksPerMillion: '3715',
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
  assert.equal((await own.must<Home>('GET /api/home')).body.isLow, true)
})

test('low is what the owner calls so, on the page as in the letter', async () => {
  const { person, bought, spend, guards, lettersTo } = at.stage
  const own = await person('lines')
  await bought(own)
  await spend(own.book, 7_000_000)
  const low = async () => {
    const { isLow, lowBy, lowBelow, lowDays } = (await own.must<Home>('GET /api/home')).body
    return [isLow, lowBy, lowBelow?.whole, lowDays]
  }
  const told = async () =>
    (await lettersTo(own.email)).filter((kind) => kind === 'low-balance').length
  // 28 million are left, which is four days at this pace.
  for (const [line, expected] of [
    [{ lowCredits: null, lowDays: 4 }, [false, null, '3500000', 4]],
    [{ lowCredits: credits(28_000_000), lowDays: null }, [false, null, '28000000', null]],
    [{ lowCredits: null, lowDays: null }, [false, null, '3500000', null]],
  ] as const) {
    await guards.setThresholds(own.book, line)
    assert.deepEqual(await low(), expected)
    await guards.jobs.watch()
  }
  assert.equal(await told(), 0)
  for (const [line, expected] of [
    [{ lowCredits: null, lowDays: 5 }, [true, 'days', '3500000', 5]],
    [{ lowCredits: credits(29_000_000), lowDays: 1 }, [true, 'credits', '29000000', 1]],
  ] as const) {
    const before = await told()
    await guards.setThresholds(own.book, line)
    assert.deepEqual(await low(), expected)
    await guards.jobs.watch()
    assert.equal(await told(), before + 1)
  }
  // With a line of their own, a tenth of the pack says nothing; without any, it does.
  await guards.setThresholds(own.book, { lowCredits: credits(1_000), lowDays: null })
  await spend(own.book, 27_000_000)
  assert.deepEqual(await low(), [false, null, '1000', null])
  await guards.setThresholds(own.book, { lowCredits: null, lowDays: null })
  assert.deepEqual(await low(), [true, 'pack', '3500000', null])
})

test('days are those of the owner’s time zone, and a zone that is none is UTC', async () => {
  const { person, bought, spend, db } = at.stage
  const own = await person('zones')
  await bought(own)
  await spend(own.book, 1_000)
  const in_ = async (zone: string) =>
    (await own.must<Home>(`GET /api/home?zone=${encodeURIComponent(zone)}`)).body
  for (const zone of ['Pacific/Kiritimati', 'Pacific/Pago_Pago', 'Europe/Moscow']) {
    const { rows } = await db.query(`select to_char(now() at time zone $1, 'YYYY-MM-DD') as day`, [
      zone,
    ])
    const home = await in_(zone)
    const last = home.days.at(-1)
    assert.deepEqual(
      [home.zone, last?.day, last?.requests],
      [zone, (rows[0] as { day: string }).day, '1'],
    )
  }
  for (const zone of ['Mars/Olympus', '../../etc', "x'; drop", '']) {
    assert.equal((await in_(zone)).zone, 'UTC', zone)
  }
  assert.equal(zoneOf(undefined), 'UTC')
})

test('a book that is stopped says so', async () => {
  const { person, ledger, db } = at.stage
  const own = await person('stopped')
  await ledger.block(db, own.book, 'operator_blocked')
  assert.equal((await own.must<Home>('GET /api/home')).body.blocked, 'operator_blocked')
})
