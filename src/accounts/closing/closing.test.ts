// The steps of closing an account, erasing it, the copy of its data, and the job that deletes
// expired rows.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  ageProofs,
  createStage,
  emptyBooks,
  errorOf,
  expect,
  PASSWORD,
  requiredConsents,
  type Stage,
} from '../../../test/stages/accounts.ts'
import type { AccountId } from '../../platform/ids.ts'
import { isRefusal, Refusal } from '../../platform/refusal.ts'
import type { ClosingHooks, Session, Unspent } from '../accounts.ts'
import type { ClosingStep } from './process-queries.ts'
import { accountClose } from './queries.ts'

let stage: Stage
before(async () => {
  stage = await createStage()
})
after(() => stage.end())

/** Closes an account whose book is empty. */
async function close(owner: { session(): Promise<Session | undefined> }, unspent: Unspent) {
  await stage.accounts.closings.begin(await owner.session(), unspent)
  await stage.accounts.closings.run()
}

const due = () =>
  stage.db.query('update account_closings set next_at = ledger_now() where ended_at is null')
const stepOf = async (account: AccountId) => (await stage.accounts.closings.find(account))?.step

test('closing takes its steps, and the last one ends every way to sign in', async () => {
  const calls: unknown[] = []
  const told = (what: string) => async (_: unknown, given: unknown) => {
    const { book } = given as { book: bigint }
    calls.push([what, book])
    return true
  }
  const closingHooks: ClosingHooks = {
    ...emptyBooks,
    onBegin: async (tx, owner) => void (await told('begin')(tx, owner)),
    isDrained: told('drained'),
    requestRefunds: async (owner) => void (await told('refunds')(0, owner)),
    isRefunded: told('refunded'),
    onClose: told('close'),
  }
  const accounts = stage.createAccountsWith({ closingHooks })
  const owner = await stage.person('leaver')
  const phone = stage.browser()
  expect(await phone.signIn(owner.email), 200)
  const session = stage.accounts.requireSession(await owner.session())
  await accounts.closings.begin(session, 'refund')
  assert.equal((await phone.session())?.isClosing, true, 'the owner stays signed in')
  const begun = await stage.lastEmail(owner.email, 'account-closing')
  assert.match(begun.text, /we will refund your unspent credits/)

  await accounts.closings.run()
  const steps = ['begin', 'drained', 'refunds', 'refunded', 'refunds', 'close']
  assert.deepEqual(
    calls,
    steps.map((step) => [step, session.book]),
  )
  for (const browser of [owner, phone]) assert.equal(await browser.session(), undefined)
  assert.equal(errorOf(await stage.browser().signIn(owner.email)), 'sign_in_wrong')
  assert.equal(await stage.accounts.ownerOf(session.book), undefined)
  assert.equal((await stage.accounts.endingOf(session.book))?.step, 'closed')
  const email = await stage.lastEmail(owner.email, 'account-closed')
  assert.match(email.text, /each refund has an e-mail of its own/)
  await accounts.closings.begin(session, 'refund').then(
    () => assert.fail('a closed account closed again'),
    (error: unknown) => assert.ok(isRefusal(error, 'session_missing')),
  )
})

test('a step that must wait is tried again, and none is taken twice', async () => {
  const open = { isDrained: false, isRefunded: false, canClose: false }
  const asked = { refunds: 0 }
  const accounts = stage.createAccountsWith({
    closingHooks: {
      ...emptyBooks,
      isDrained: async () => open.isDrained,
      async requestRefunds() {
        asked.refunds += 1
      },
      isRefunded: async () => open.isRefunded,
      onClose: async () => open.canClose,
    },
  })
  const owner = await stage.person('patient')
  const { account } = stage.accounts.requireSession(await owner.session())
  await accounts.closings.begin(await owner.session(), 'refund')
  const look = async () => {
    await due()
    await Promise.all([accounts.closings.run(), accounts.closings.run()])
    return stepOf(account)
  }
  assert.deepEqual([await look(), asked.refunds], ['closing', 0])
  open.isDrained = true
  assert.equal(await look(), 'drained')
  open.isRefunded = true
  assert.equal(await look(), 'refunded', 'what came meanwhile keeps it open')
  assert.notEqual(await owner.session(), undefined)
  open.canClose = true
  assert.equal(await look(), undefined)
  assert.equal(await owner.session(), undefined)
})

test('one account that cannot go on keeps no other waiting', async () => {
  const [broken, other] = [await stage.person('broken'), await stage.person('fine')]
  const { account } = stage.accounts.requireSession(await broken.session())
  const fails = async (_: unknown, owner: { account: AccountId }) => {
    if (owner.account === account) throw new Error('a fault of another module')
    return true
  }
  const accounts = stage.createAccountsWith({ closingHooks: { ...emptyBooks, isDrained: fails } })
  for (const one of [broken, other]) await accounts.closings.begin(await one.session(), 'forfeit')
  await due()
  await accounts.closings.run()
  assert.deepEqual([await stepOf(account), await other.session()], ['closing', undefined])
  await due()
  await stage.accounts.closings.run()
})

test('a closing that is begun twice at once begins once', async () => {
  const begun: unknown[] = []
  const accounts = stage.createAccountsWith({
    closingHooks: { ...emptyBooks, onBegin: async (_, { account }) => void begun.push(account) },
  })
  const owner = await stage.person('doubled')
  const session = stage.accounts.requireSession(await owner.session())
  const operator = () =>
    stage.db.transaction((tx) => accounts.closings.beginFor(tx, session.account, 'forfeit'))
  await Promise.all([
    accounts.closings.begin(session, 'refund'),
    accounts.closings.begin(session, 'refund'),
    operator(),
    operator(),
  ])
  assert.deepEqual(begun, [session.account])
  const kinds = (await stage.emailsTo(owner.email)).map(({ kind }) => kind)
  assert.equal(kinds.filter((kind) => kind === 'account-closing').length, 1)
  await close(owner, 'refund')
})

test('the database refuses another agreement and a second closing', async () => {
  const owner = await stage.person('strict')
  const { account } = stage.accounts.requireSession(await owner.session())
  await stage.accounts.closings.begin(await owner.session(), 'refund')
  for (const set of [
    `unspent = 'forfeit'`,
    `begun_by = 'operator'`,
    `was_stopped = not was_stopped`,
    `begun_at = begun_at - interval '1 day'`,
  ]) {
    await assert.rejects(
      stage.db.query(`update account_closings set ${set} where account_id = $1`, [account]),
      /what was agreed when closing \d+ began cannot change/,
      set,
    )
  }
  await assert.rejects(
    stage.db.query(
      `insert into account_closings (account_id, unspent, begun_by, was_stopped)
       values ($1, 'refund', 'owner', false)`,
      [account],
    ),
    { code: '23505' },
  )
  await stage.accounts.closings.run()
})

test('the database lets a closing go to its next step only, or stop before the first', async () => {
  const NEXT = {
    closing: ['drained', 'stopped'],
    drained: ['refunded'],
    refunded: ['closed'],
    closed: [],
    stopped: [],
  } as const satisfies Record<ClosingStep, readonly ClosingStep[]>
  const owner = await stage.person('stepped')
  const { account } = stage.accounts.requireSession(await owner.session())
  /** With the times that belong to the step: no other rule of the table can refuse it. */
  const move = (to: ClosingStep) =>
    stage.db.query(
      `update account_closings set step = $2,
         drained_at = case when $2 in ('drained', 'refunded', 'closed') then ledger_now() end,
         refunded_at = case when $2 in ('refunded', 'closed') then ledger_now() end,
         ended_at = case when $2 in ('closed', 'stopped') then ledger_now() end,
         next_at = case when $2 not in ('closed', 'stopped') then ledger_now() end
       where id = (select max(id) from account_closings where account_id = $1)`,
      [account, to],
    )
  const steps = Object.keys(NEXT) as ClosingStep[]
  for (const way of [
    ['drained', 'refunded', 'closed'],
    ['stopped'],
  ] as const satisfies ClosingStep[][]) {
    await stage.accounts.closings.begin(await owner.session(), 'refund')
    for (const [i, from] of (['closing', ...way] as const).entries()) {
      for (const to of steps.filter((one) => one !== from)) {
        if ((NEXT[from] as readonly ClosingStep[]).includes(to)) continue
        await assert.rejects(move(to), new RegExp(`cannot go from ${from} to ${to}`))
      }
      const next = way[i]
      if (next !== undefined) await move(next)
    }
  }
})

test('an owner may stop the closing until refunds begin', async () => {
  const drained = { now: false }
  const stopped: unknown[] = []
  const accounts = stage.createAccountsWith({
    closingHooks: {
      ...emptyBooks,
      isStopped: async () => true,
      isDrained: async () => drained.now,
      isRefunded: async () => false,
      onStop: async (_, { wasStopped }) => void stopped.push(wasStopped),
    },
  })
  const owner = await stage.person('hesitant')
  const session = stage.accounts.requireSession(await owner.session())
  const { account } = session
  await accounts.closings.begin(session, 'refund')
  await accounts.closings.run()
  await accounts.closings.stop(session)
  await accounts.closings.stop(session)
  assert.deepEqual([stopped, await stepOf(account)], [[true], undefined])
  assert.equal((await owner.session())?.isClosing, false)
  assert.ok(await stage.lastEmail(owner.email, 'account-closing-stopped'))

  await accounts.closings.begin(session, 'refund')
  drained.now = true
  await accounts.closings.run()
  await assert.rejects(accounts.closings.stop(session), { code: 'closing_final' })
  await due()
  await stage.accounts.closings.run()
})

test('an older version that closes the account ends its closing', async () => {
  const owner = await stage.person('overtaken')
  const { account, book } = stage.accounts.requireSession(await owner.session())
  await stage.accounts.closings.begin(await owner.session(), 'refund')
  await stage.db.transaction((tx) => accountClose(tx, { account, unspent: 'forfeit', days: 30 }))
  assert.equal((await stage.accounts.endingOf(book))?.step, 'closed')
  await stage.accounts.closings.run()
  assert.equal(await stepOf(account), undefined)
})

test('a refusal of another module leaves the account as it was', async () => {
  const onBegin = async () => {
    throw new Refusal('debt_outstanding', 'Pay first.')
  }
  const accounts = stage.createAccountsWith({ closingHooks: { ...emptyBooks, onBegin } })
  const owner = await stage.person('debtor')
  const session = await owner.session()
  await assert.rejects(accounts.closings.begin(session, 'forfeit'), (error) =>
    isRefusal(error, 'debt_outstanding'),
  )
  assert.equal((await owner.session())?.isClosing, false)
  const kinds = (await stage.emailsTo(owner.email)).map(({ kind }) => kind)
  assert.ok(!kinds.includes('account-closing'))
})

test('closing and the copy require a recent proof', async () => {
  const owner = await stage.person('hasty')
  await ageProofs(stage.db, '11 minutes')
  const stale = await owner.session()
  const { closings } = stage.accounts
  const isNeeded = (error: unknown) => isRefusal(error, 'step_up_needed')
  await assert.rejects(closings.begin(stale, 'refund'), isNeeded)
  assert.throws(() => stage.accounts.copy(stale), isNeeded)
})

test('the address of a closed account can register again and gets a new book', async () => {
  const owner = await stage.person('returner')
  const first = stage.accounts.requireSession(await owner.session())
  await close(owner, 'forfeit')
  const body = { email: owner.email, password: PASSWORD, consents: requiredConsents }
  expect(await owner.post('/register', body), 200)
  const code = await stage.emailedCode(owner.email, 'confirm-email')
  expect(await owner.post('/confirm', { code, password: PASSWORD }), 200)
  const second = await owner.session()
  assert.equal(second?.email, owner.email)
  assert.notEqual(second?.book, first.book)
  await close(owner, 'forfeit')
})

test('after the term the personal data is erased and the book stays without an owner', async () => {
  const erased: unknown[] = []
  const erasing: ClosingHooks['onErase'] = async (_, { account }) => {
    erased.push(account)
  }
  const accounts = stage.createAccountsWith({ closingHooks: { ...emptyBooks, onErase: erasing } })
  const owner = await stage.person('forgotten')
  const { account, book } = stage.accounts.requireSession(await owner.session())
  await close(owner, 'forfeit')
  await accounts.erase()
  assert.deepEqual(erased, [], 'not before the term is over')

  const row = async () => {
    const { rows } = await stage.db.query(
      `select accounts::text as text, (select count(*)::int4 from account_consents
         where account_id = accounts.id) as consents from accounts where id = $1`,
      [account],
    )
    return rows[0] as { text: string; consents: number }
  }
  assert.match((await row()).text, /forgotten@example\.org/)
  await stage.db.query(`update accounts set erase_at = clock_timestamp() where id = $1`, [account])
  await accounts.erase()
  await accounts.erase()
  assert.deepEqual(erased, [account])
  assert.doesNotMatch((await row()).text, /forgotten/)
  assert.equal((await row()).consents, 0)
  const { rows } = await stage.db.query('select id from books where id = $1', [book])
  assert.equal(rows.length, 1)
})

test('the copy holds everything we know about the person, and no secret', async () => {
  const exports = { ledger: async () => ({ entries: [1, 2] }), payments: async () => [] }
  const accounts = stage.createAccountsWith({ closingHooks: { ...emptyBooks, exports } })
  const owner = await stage.person('copied', { address: '198.51.100.44' })
  const session = await owner.session()
  const text = (await Array.fromAsync(accounts.copy(session))).join('')
  const copy = JSON.parse(text) as Record<string, unknown>
  assert.deepEqual(Object.keys(copy).toSorted(), [
    ...['account', 'browsers', 'closings', 'consents', 'emailChange', 'formerEmails'],
    ...['identityChecks', 'isWhole', 'ledger', 'passkeys', 'passwordChangedAt', 'payments'],
    ...['recoveries', 'sessions'],
  ])
  const account = copy.account as Record<string, unknown>
  assert.deepEqual([account.email, account.id], [owner.email, session?.account])
  assert.equal((copy.consents as unknown[]).length, requiredConsents.length)
  assert.match(text, /198\.51\.100\.44/)
  assert.doesNotMatch(text, /argon2id|secret|hash/i)
})

test('the sweep deletes expired rows and no others', async () => {
  const owner = await stage.person('swept')
  const other = stage.browser()
  expect(await other.signIn(owner.email), 200)
  expect(await other.post('/request-password-reset', { email: owner.email }), 200)
  const body = { email: 'swept-too@example.org', password: PASSWORD, consents: requiredConsents }
  expect(await other.post('/register', body), 200)
  await stage.accounts.sweep()
  assert.notEqual(await other.session(), undefined)

  const late = `clock_timestamp() - interval '1 second'`
  const session = await other.session()
  await stage.db.query(`update sessions set expires_at = ${late} where id = $1`, [session?.id])
  await stage.db.query(`update account_codes set expires_at = ${late}`)
  await stage.db.query(`update registrations set expires_at = ${late} - interval '7 days'`)
  await stage.db.query(`update account_throttles set ends_at = ${late}`)
  await stage.db.query(
    `update account_devices set last_seen_at = clock_timestamp() - interval '401 days'`,
  )
  assert.ok((await stage.accounts.sweep()) > 4)
  for (const table of ['account_codes', 'registrations', 'account_throttles', 'account_devices']) {
    const { rows } = await stage.db.query(`select from ${table}`)
    assert.equal(rows.length, 0, table)
  }
  assert.equal(await other.session(), undefined)
  assert.notEqual(await owner.session(), undefined)
  assert.equal(await stage.accounts.sweep(), 0)
})
