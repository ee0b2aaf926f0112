// Tests of op today and op month: what an operator types and reads, and what a seal keeps.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createOperatorStage, type OperatorStage } from '../../../test/stages/operator.ts'
import { turnClock } from '../../../test/support/harness.ts'

let stage: OperatorStage

before(async () => {
  stage = await createOperatorStage()
})
after(() => stage.end())

type Figure = { readonly name: string; readonly value: string | null; readonly of: object }
type Line = { readonly section: string; readonly figure: string; readonly unit: string }
type Month = {
  readonly figures: { readonly month: string; readonly money: { readonly taken: string } }
  readonly lines: readonly (Line & { readonly value: string | null })[]
  readonly seal: { readonly digest: string } | null
  readonly corrections: readonly (Line & { readonly about: string; readonly difference: string })[]
  readonly differences: readonly (Line & { readonly difference: string })[]
}

const DAY_MS = 86_400_000
/** The month of a moment, in Moscow. */
const monthOf = (ms: number) => new Date(ms + 3 * 3_600_000).toISOString().slice(0, 7)

async function shiftTo(ms: number): Promise<void> {
  await turnClock(stage.db, `${Math.round((ms - Date.now()) / 1_000)} seconds`)
  await stage.db.query(`select ledger_partitions_make((ledger_now() at time zone 'UTC')::date)`)
}

test('in a month without payments the provider kept nothing, which is known', async () => {
  const { lines } = await stage.json<Month>('month')
  const commission = lines.find(({ figure }) => figure === 'provider commission')
  assert.equal(commission?.value ?? null, '0')
})

test('op today shows each figure with what it is made of', async () => {
  const anna = await stage.person('anna')
  await stage.buyPack(anna)
  await stage.spend(anna.book, 1_287)
  const today = await stage.json<{ figures: Figure[]; costs: unknown }>('today')
  const value = (name: string) => today.figures.find((one) => one.name === name)?.value
  assert.equal(value('taken'), '130000')
  assert.equal(value('credited'), '35000000000000')
  assert.equal(value('spent'), '1287000000')
  assert.equal(value('liability'), '34998713000000')
  assert.equal(value('requests'), '1')
  // 1300.00 × 1287 / 35 000 000 is 4.78 kopecks, and the unspent part is rounded down.
  assert.equal(value('revenue'), '5')
  assert.equal(value('margin'), null)
  assert.equal(today.costs, null)
  assert.ok(today.figures.every(({ of }) => 'kind' in of && 'filter' in of))
  const { out, code } = await stage.op(['today'])
  assert.equal(code, 0)
  assert.match(out, /^taken +1 300\.00 RUB +orders capturedFrom=/m)
  assert.match(out, /unknown without catalogue\.vendorPricesFile/)
})

test('op month adds up, as a table and as CSV', async () => {
  const month = await stage.json<Month>('month')
  const value = (section: string, figure: string, unit: string) =>
    BigInt(
      month.lines.find(
        (one) => one.section === section && one.figure === figure && one.unit === unit,
      )?.value ?? 0,
    )
  const of = (figure: string) => value('liability', figure, 'credits')
  assert.equal(
    of('opening') + of('credited') - of('used') - of('refunded') - of('disputed') - of('adjusted'),
    of('closing'),
  )
  const { out: csv } = await stage.op(['month', month.figures.month, '--csv'])
  assert.match(csv, /^month,about,section,item,figure,unit,value$/m)
  assert.match(csv, /^20\d\d-\d\d,,liability,paid pack-35m,sold,roubles,1300\.00$/m)
  const { out } = await stage.op(['month', 'show', month.figures.month])
  assert.match(out, /not over/)
  assert.match(out, /^paid pack-35m .* 35 000 000 /m)
})

test('only a whole month of the past is sealed, once and in turn', async () => {
  const now = Date.now()
  const month = monthOf(now)
  const refusalOf = async (...args: string[]) =>
    (await stage.json<{ refusal: string }>('month', ...args)).refusal
  assert.equal(await refusalOf('seal', month), 'month_not_over')
  assert.equal(await refusalOf('show', '2026-13'), 'month_unknown')
  assert.equal(await refusalOf('show', '2099-01'), 'month_unknown')

  const late = await stage.person('late')
  const { id } = await stage.buy(late.book, { email: late.email })
  await stage.sim('pay', { orderId: id })
  const end = new Date(`${month}-28T00:00:00Z`).getTime() + 8 * DAY_MS
  await shiftTo(end)
  const declined = await stage.op(['month', 'seal', month], 'n')
  assert.equal(declined.code, 1)
  const sealed = await stage.op(['month', 'seal', month], 'y')
  assert.equal(sealed.code, 0, sealed.err)
  assert.match(sealed.out, new RegExp(`sealed ${month}, SHA-256 [0-9a-f]{64}`))
  assert.match((await stage.acts()).at(-1)?.detail ?? '', /SHA-256/)
  assert.equal(await refusalOf('seal', month), 'month_sealed')
  await shiftTo(end + 70 * DAY_MS)
  assert.equal(await refusalOf('seal', monthOf(end + 32 * DAY_MS)), 'month_out_of_turn')
  await shiftTo(end)

  const kept = await stage.json<Month>('month', month)
  assert.deepEqual(kept.differences, [])
  await stage.payments.check(id)
  const differs = await stage.json<Month>('month', month)
  assert.equal(differs.figures.money.taken, kept.figures.money.taken)
  const isTaken = (one: Line) => one.figure === 'taken' && one.section === 'money'
  assert.equal(differs.differences.find(isTaken)?.difference, '130000')
  const next = await stage.json<Month>('month', monthOf(end))
  const correction = next.corrections.find(isTaken)
  assert.deepEqual([correction?.about, correction?.difference], [month, '130000'])
  const { out } = await stage.op(['month', month])
  assert.match(out, /sealed, and a new count differs/)
})

test('a sealed month cannot be changed or removed, not even by the owner', async () => {
  for (const text of ['update month_seals set month = month', 'delete from month_seals']) {
    await assert.rejects(() => stage.db.query(text), /never changed or removed/)
  }
  await assert.rejects(
    () =>
      stage.db.query(
        `insert into month_seals (month, time_zone, sealed_by, figures, digest)
         values ('2020-01', 'UTC', 'nobody', '{}', 'wrong')`,
      ),
    /month_seals_match_their_digest/,
  )
})
