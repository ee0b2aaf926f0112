// At which ages (in seconds) an order is polled, and which numbers raise an alarm.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { alarmsOf } from '../reviews/alarms.ts'
import { firstPollSeconds, nextPollSeconds, retryDelaySeconds } from './schedule.ts'

function pollAges(hasSettledList: boolean): number[] {
  const ages = [firstPollSeconds(hasSettledList)]
  for (let i = 0; i < 1_000; i++) {
    const age = ages.at(-1) ?? 0
    const pause = nextPollSeconds(age, hasSettledList)
    if (pause === null) return ages
    ages.push(age + pause)
  }
  return assert.fail('polling never ends')
}

test('without a sweep an order is polled often at first, and for 25 hours', () => {
  const ages = pollAges(false)
  assert.deepEqual(ages.slice(0, 9), [3, 6, 10, 15, 20, 30, 60, 90, 120])
  const pauses = ages.slice(1).map((at, i) => at - (ages[i] ?? 0))
  assert.ok(pauses.every((pause) => pause <= 3_600))
  const last = ages.at(-1) ?? 0
  assert.ok(last >= 25 * 3_600 && last <= 26 * 3_600)
})

test('with a sweep an order is polled after 10, 40 and 75 minutes, then every hour', () => {
  assert.deepEqual(pollAges(true).slice(0, 5), [600, 2_400, 4_500, 8_100, 11_700])
})

test('unknown outcomes are retried with growing pauses, up to an hour', () => {
  const pauses = Array.from({ length: 20 }, (_, i) => retryDelaySeconds(i + 1))
  assert.deepEqual(pauses.slice(0, 6), [2, 3, 5, 8, 13, 21])
  assert.equal(pauses.at(-1), 3_600)
})

const healthy = {
  delayP99: 20,
  credited: 100,
  byWebhook: 90,
  reviews: 0,
  createdOld: 0,
  noticesOld: 0,
  sweepSeconds: 14,
  sweepFailures: 0,
  refundsOld: 0,
  refundsCanceled: 0,
  receiptsFailed: 0,
  uncreditedSeconds: 0,
  blindSweeps: 0,
  findings: 0,
  tiedSeconds: 50,
  comparedSeconds: 90_000,
}
const table: [Partial<typeof healthy>, string[]][] = [
  [{}, []],
  [{ delayP99: 46 }, ['credits_late']],
  [{ byWebhook: 49 }, ['webhooks_missing']],
  [{ credited: 9, byWebhook: 0 }, []],
  [{ sweepFailures: 3 }, ['sweeps_failing']],
  [{ sweepSeconds: 121 }, ['sweeps_failing']],
  [{ reviews: 1 }, ['reviews_waiting']],
  [{ createdOld: 1 }, ['orders_stuck']],
  [{ noticesOld: 1 }, ['notices_stuck']],
  [{ refundsOld: 1 }, ['refunds_stuck']],
  [{ refundsCanceled: 1 }, ['refunds_canceled']],
  [{ receiptsFailed: 1 }, ['receipts_failed']],
  [{ uncreditedSeconds: 91 }, ['uncredited_old']],
  [{ blindSweeps: 1 }, ['sweep_blind']],
  [{ findings: 1 }, ['money_differs']],
  [{ tiedSeconds: 601 }, ['watch_stopped']],
  [{ comparedSeconds: 50 * 3_600 + 1 }, ['watch_stopped']],
]
for (const [change, names] of table) {
  test(`${JSON.stringify(change)} raises ${names.join() || 'no alarm'}`, () => {
    assert.deepEqual(
      alarmsOf({ ...healthy, ...change }).map(({ name }) => name),
      names,
    )
  })
}
