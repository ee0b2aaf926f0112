// Trials: who gets one, who does not, and what they cost at most. Accounts are made as people make
// them, by registering and confirming over HTTP, with the network in the header of the edge.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { PASSWORD } from '../../../test/stages/accounts.ts'
import { type CabinetStage, createCabinetStage } from '../../../test/stages/cabinet.ts'
import type { BookId } from '../../platform/ids.ts'
import { credits } from '../../units/credits.ts'

type Home = {
  readonly nextStep: string
  readonly trial: { readonly whole: string } | null
  readonly worth: object | null
}

const TRIAL = { credits: 100_000, perNetworkDay: 3, creditsPerDay: 1_200_000 }

const at = { stage: undefined as unknown as CabinetStage, network: 0 }
before(async () => {
  at.stage = await createCabinetStage({ payments: { trial: TRIAL } })
})
after(() => at.stage.end())

/** An address of a /24 that no other person of this file has. */
function newNetwork(): string {
  at.network += 1
  return `198.51.${at.network}.7`
}

async function register(email: string): Promise<string> {
  const consents = at.stage.documents.list().filter((one) => one.isRequired)
  const body = { email, password: PASSWORD, language: 'en', consents }
  await at.stage.browser().expectOk('POST /api/auth/register', body)
  const { rows } = await at.stage.db.query(
    `select body_text as text from letters where recipient = lower($1)
     order by posted_at desc limit 1`,
    [email],
  )
  return /#code=([\w-]+)/.exec((rows[0] as { text: string }).text)?.[1] ?? ''
}

async function confirm(email: string, from = newNetwork()) {
  const code = await register(email)
  const browser = at.stage.browser()
  const body = { code, password: PASSWORD }
  const headers = { 'x-real-ip': from }
  assert.equal((await browser.send('POST /api/auth/confirm', body, { headers })).status, 200)
  const account = await at.stage.accounts.findByEmail(email)
  assert.ok(account)
  return Object.assign(browser, { book: account.book, account: account.id })
}

const availableOf = async (book: BookId) => (await at.stage.ledger.balance(book))?.available

async function emptyDay(): Promise<void> {
  await at.stage.db.query('update trial_days set credits = 0')
}

test('a confirmed account gets the trial once, may make a key, and cannot refund it', async () => {
  const anna = await confirm('anna@example.org')
  assert.equal(await availableOf(anna.book), credits(TRIAL.credits))
  const { body: home } = await anna.expectOk<Home>('GET /api/home')
  assert.deepEqual([home.nextStep, home.trial?.whole, home.worth], ['key', '100000', null])
  assert.equal((await anna.expectOk<{ state: string }>('GET /api/key')).body.state, 'none')
  const { body: key } = await anna.expectOk<{ id: string }>('POST /api/key')
  await anna.expectOk(`POST /api/key/${key.id}/confirm`)
  const { body: brand } = await at.stage
    .browser()
    .expectOk<{ trialCredits: unknown }>('GET /api/brand')
  assert.deepEqual(brand.trialCredits, { whole: '100000', exact: '100000' })
  const { rows } = await at.stage.db.query(
    `select kind::text, contra::text from entries where book_id = $1`,
    [anna.book],
  )
  assert.deepEqual(rows, [{ kind: 'promo', contra: 'promo' }])
  assert.deepEqual(await at.stage.ledger.audit('all'), [])
  assert.deepEqual((await at.stage.payments.audit()) ?? [], [])
})

test('other spellings of the address get none, nor does it after closing and erasing', async () => {
  await emptyDay()
  const first = await confirm('b.oris@gmail.com')
  assert.equal(await availableOf(first.book), credits(TRIAL.credits))
  for (const other of ['boris@gmail.com', 'bor.is+2@googlemail.com', 'BORIS+x@gmail.com']) {
    const { book } = await confirm(other.toLowerCase())
    assert.equal(await availableOf(book), 0n, other)
  }
  await at.stage.db.query(
    `update accounts set closed_at = now(), erase_at = now(), unspent = 'forfeit',
       former_email = email, email = lower(id) || '.' || book_id || '@closed.invalid'
     where id = $1 and closed_at is null`,
    [first.account],
  )
  await at.stage.accounts.erase()
  const again = await confirm('b.oris@gmail.com')
  assert.notEqual(again.book, first.book)
  assert.equal(await availableOf(again.book), 0n, 'the digest outlives the account')
  const { body: home } = await again.expectOk<Home>('GET /api/home')
  assert.deepEqual([home.nextStep, home.trial], ['buy', null])
})

test('a network gets three on a day, whatever its addresses are', async () => {
  await emptyDay()
  const got: (bigint | undefined)[] = []
  for (let i = 0; i < 5; i++) {
    got.push(await availableOf((await confirm(`net${i}@example.org`, `203.0.113.${i + 1}`)).book))
  }
  const one = credits(TRIAL.credits)
  assert.deepEqual(got, [one, one, one, 0n, 0n])
  const six: (bigint | undefined)[] = []
  for (let i = 0; i < 4; i++) {
    const from = `2001:db8:7:${i}::${i + 1}`
    six.push(await availableOf((await confirm(`six${i}@example.org`, from)).book))
  }
  assert.deepEqual(six, [one, one, one, 0n], 'a /48 is one network')
})

test('all trials of a day cost at most the ceiling; accounts are made all the same', async () => {
  await at.stage.db.query('update trial_days set credits = $1', [credits(1_150_000)])
  const { book } = await confirm('late@example.org')
  assert.equal(await availableOf(book), 0n)
  const { rows } = await at.stage.db.query('select credits from trial_days')
  assert.deepEqual(rows, [{ credits: credits(1_150_000) }], 'a refused trial counts nothing')
})

test('confirmations at once of one mailbox in many spellings grant one trial', async () => {
  await emptyDay()
  const spellings = Array.from({ length: 6 }, (_, i) => `race+${i}@example.org`)
  const codes = await Promise.all(spellings.map(register))
  await Promise.all(
    codes.map((code) =>
      at.stage
        .browser()
        .send(
          'POST /api/auth/confirm',
          { code, password: PASSWORD },
          { headers: { 'x-real-ip': newNetwork() } },
        ),
    ),
  )
  const { rows } = await at.stage.db.query(
    `select count(*)::int4 as trials from trials t join accounts a on a.book_id = t.book_id
     where a.email like 'race+%'`,
  )
  assert.deepEqual(rows, [{ trials: 1 }])
})

test('an account that was confirmed while trials were off gets none later', async () => {
  await emptyDay()
  const off = at.stage.open({ trial: { ...TRIAL, credits: 0 } })
  assert.equal(off.offeredTrial, null)
  const book = await at.stage.newBook()
  const old = { book, email: 'old@example.org', address: newNetwork() }
  assert.equal(await at.stage.db.transaction((tx) => off.grantTrial(tx, old)), undefined)
  assert.equal(await at.stage.payments.trial(book), undefined)
  assert.equal(await at.stage.payments.mayHaveKey(book), false)
})

test('the database refuses a trial for a book with credits, and sums above its own', async () => {
  await emptyDay()
  const grant = (book: BookId, amount: bigint) =>
    at.stage.ledger.db.query(
      `select outcome from trials_grant($1, sha256($2), sha256('n'), $3, 1000, 1e15::int8)`,
      [book, `${book}`, amount],
    )
  const rich = await at.stage.person('rich')
  await at.stage.buyPack(rich)
  const { rows } = await grant(rich.book, credits(1))
  assert.equal((rows[0] as { outcome: string }).outcome, 'not_new')
  await assert.rejects(grant(await at.stage.newBook(), credits(1_000_001)), /trials_are_small/)
})
