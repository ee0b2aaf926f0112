// The e-mail about a month: who gets it and when, that its figures are those of the ledger, and how
// it is switched off.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type CabinetStage, createCabinetStage, type Person } from '../../test/stages/cabinet.ts'
import { quiet } from '../../test/support/harness.ts'
import { systemClock } from '../platform/clock.ts'
import { creditsPhrase } from '../units/email-amounts.ts'
import { createSummaries } from './summaries.ts'

let stage: CabinetStage
before(async () => {
  stage = await createCabinetStage()
})
after(() => stage.end())

/** A morning of the month after this one, UTC; `zoneHours`: after this one in another zone. */
function nextMonth(day: number, zoneHours = 0): number {
  const local = new Date(Date.now() + zoneHours * 3_600_000)
  return Date.UTC(local.getUTCFullYear(), local.getUTCMonth() + 1, day, 6, 10)
}

/** A worker whose clock shows this. */
function summariesAt(atMs: number) {
  const { ledger, payments, mail, brand, accounts } = stage
  return createSummaries({
    ...{ db: ledger.db, ledger, payments, mail, brand, accounts, log: quiet },
    clock: { ...systemClock, nowMs: () => atMs },
  })
}

type Sent = { text: string; unsubscribe: string }

async function sentTo({ email }: Person): Promise<Sent[]> {
  const { rows } = await stage.db.query(
    `select body_text as text, unsubscribe from letters
     where recipient = $1 and kind = 'month-summary' order by posted_at`,
    [email],
  )
  return rows as Sent[]
}

test('tells usage, purchases and balance of the month, once', async () => {
  const own = await stage.person('busy')
  await stage.buyPack(own)
  await stage.spend(own.book, 1_234)
  await stage.spend(own.book, 766)
  const posted = await Promise.all([1, 2, 3].map(() => summariesAt(nextMonth(1)).run()))
  assert.equal(
    posted.reduce((sum, one) => sum + one, 0),
    1,
    'by three workers at once',
  )
  assert.equal(await summariesAt(nextMonth(2)).run(), 0)

  const [email, ...more] = await sentTo(own)
  assert.deepEqual(more, [])
  const { rows } = await stage.db.query(
    `select count(*)::int as requests, -sum(amount)::int8 as spent from entries
     where book_id = $1 and kind = 'charge'`,
    [own.book],
  )
  const { requests, spent } = rows[0] as { requests: number; spent: bigint }
  assert.equal(requests, 2)
  const text = email?.text ?? ''
  assert.ok(text.includes(`2 requests, ${creditsPhrase(spent as never, 'en')}`), text)
  assert.match(text, /Bought: 35,000,000 credits, RUB\s1,300\.00/)
  assert.match(text, /Balance now: 34,998,000 credits/)
  assert.match(text, /\/usage\?period=own&from=\d{4}-\d\d-01&to=\d{4}-\d\d-\d\d\n/)
})

test('says nothing about a month without use, and nothing to a closing account', async () => {
  const idle = await stage.person('idle')
  const leaving = await stage.person('leaving')
  await stage.buyPack(leaving)
  await leaving.expectOk('POST /api/closing', { unspent: 'refund' })
  await summariesAt(nextMonth(1)).run()
  assert.deepEqual(await sentTo(idle), [])
  assert.deepEqual(await sentTo(leaving), [])
})

test('waits for the end of the month where the owner lives, not for a late worker', async () => {
  const west = await stage.person('west')
  await west.expectOk('POST /api/me/zone', { zone: 'America/Los_Angeles' })
  await stage.buyPack(west)
  await summariesAt(nextMonth(1, -8)).run()
  assert.deepEqual(await sentTo(west), [], 'it is still the last day of the month there')
  await summariesAt(nextMonth(9, -8)).run()
  assert.deepEqual(await sentTo(west), [], 'no worker ran for more than a week')
  await summariesAt(nextMonth(2, -8)).run()
  assert.equal((await sentTo(west)).length, 1)
})

test('its link switches it off without a session, the settings switch it on again', async () => {
  const own = await stage.person('quiet')
  await stage.buyPack(own)
  await summariesAt(nextMonth(1)).run()
  const [email] = await sentTo(own)
  const link = new URL(email?.unsubscribe ?? '')
  const code = link.searchParams.get('code') ?? ''
  assert.ok(email?.text.includes(`Unsubscribe: ${link.origin}/unsubscribe#code=${code}`))

  const oneClick = (sent: string) =>
    fetch(`${stage.url}/unsubscribe?code=${sent}`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'List-Unsubscribe=One-Click',
    })
  assert.equal((await oneClick(`${code.slice(0, -1)}_`)).status, 404)
  assert.equal((await oneClick(own.account)).status, 404)
  assert.equal(await hasSummaries(own), true)
  assert.equal((await oneClick(code)).status, 204)
  assert.equal((await oneClick(code)).status, 204, 'again')
  assert.equal(await hasSummaries(own), false)

  await own.expectOk('POST /api/me/summaries', { isOn: true })
  assert.equal(await hasSummaries(own), true)
  assert.equal((await oneClick(code)).status, 404, 'a link from before it was switched on again')
  assert.equal(await hasSummaries(own), true)

  const newCode = codeOf(await sentAgain(own))
  await own.expectOk('POST /api/me/summaries', { isOn: true })
  const stranger = stage.browser()
  for (const sent of ['acc_nobody.0123456789', code]) {
    const wrong = await stranger.expectOk('POST /api/unsubscribe', { code: sent })
    assert.deepEqual(wrong.body, { isCodeRight: false })
  }
  const right = await stranger.expectOk('POST /api/unsubscribe', { code: newCode })
  assert.deepEqual(right.body, { isCodeRight: true })

  assert.equal(await sentAgain(own), undefined)
})

test('after a change of the address, the link in the old mailbox does nothing', async () => {
  const own = await stage.person('moves')
  await stage.buyPack(own)
  await summariesAt(nextMonth(1)).run()
  const old = codeOf((await sentTo(own))[0])
  const later = { ...own, email: 'moved@example.org' }
  await own.expectOk('POST /api/auth/email/change', { newEmail: later.email })
  const code = await emailedCode(later.email)
  await own.expectOk('POST /api/auth/email/confirm', { code })
  assert.equal(await isCodeRight(old), false)
  assert.equal(await hasSummaries(own), true)

  const meanwhile = codeOf(await sentAgain(later))
  const undo = await emailedCode(own.email)
  await stage.browser().expectOk('POST /api/auth/email/undo', { code: undo })
  assert.equal(await isCodeRight(meanwhile), false, 'who had the address until it was undone')
})

test('an address that changes while its summary is made gets none', async () => {
  const own = await stage.person('hurries')
  await stage.buyPack(own)
  const later = { ...own, email: 'hurried@example.org' }
  const { ledger, payments, mail, brand, accounts } = stage
  const slow = createSummaries({
    ...{ db: ledger.db, ledger, mail, brand, accounts, log: quiet },
    payments: {
      ...payments,
      orders: async (p) => {
        if (p.book === own.book) await setEmail(own, later.email)
        return payments.orders(p)
      },
    },
    clock: { ...systemClock, nowMs: () => nextMonth(1) },
  })
  await slow.run()
  assert.deepEqual(await sentTo(own), [])
  await summariesAt(nextMonth(2)).run()
  assert.equal((await sentTo(later)).length, 1)
})

async function setEmail(own: Person, email: string): Promise<void> {
  await stage.db.query('update accounts set email = $2 where id = $1', [own.account, email])
}

/** Of the link in the newest e-mail to the address. */
async function emailedCode(address: string): Promise<string> {
  const { rows } = await stage.db.query(
    `select substring(body_text from '#code=([\\w-]+)') as code from letters
     where recipient = $1 order by posted_at desc limit 1`,
    [address],
  )
  return (rows[0] as { code: string }).code
}

const codeOf = (email: Sent | undefined) =>
  new URL(email?.unsubscribe ?? '').searchParams.get('code') ?? ''

/** The summary that the owner gets as if none had been sent before; undefined: none. */
async function sentAgain(own: Person): Promise<Sent | undefined> {
  await stage.spend(own.book, 5)
  await stage.db.query('update accounts set summary_month = null where id = $1', [own.account])
  await stage.db.query(`delete from letters where kind = 'month-summary'`)
  await summariesAt(nextMonth(2)).run()
  return (await sentTo(own))[0]
}

async function isCodeRight(code: string): Promise<boolean> {
  const answer = await stage.browser().expectOk<{ isCodeRight: boolean }>('POST /api/unsubscribe', {
    code,
  })
  return answer.body.isCodeRight
}

async function hasSummaries(own: Person): Promise<boolean> {
  const { body } = await own.expectOk<{ hasSummaries: boolean }>('GET /api/me')
  return body.hasSummaries
}

test('an account that cannot be read keeps nobody else waiting', async () => {
  const [broken, well] = [await stage.person('broken'), await stage.person('well')]
  await stage.buyPack(broken)
  await stage.buyPack(well)
  const { ledger, payments, mail, brand, accounts } = stage
  const failing = createSummaries({
    ...{ db: ledger.db, ledger, mail, brand, accounts, log: quiet },
    payments: {
      ...payments,
      orders: (p) =>
        p.book === broken.book ? Promise.reject(new Error('planted')) : payments.orders(p),
    },
    clock: { ...systemClock, nowMs: () => nextMonth(1) },
  })
  await failing.run()
  assert.equal((await sentTo(well)).length, 1)
  assert.deepEqual(await sentTo(broken), [])
  await summariesAt(nextMonth(2)).run()
  assert.equal((await sentTo(broken)).length, 1, 'it is tried again the next day')
})
