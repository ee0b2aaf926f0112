// People in every situation that a page distinguishes. They are created once and never changed, so
// that each screen can be opened any number of times.
import type * as contract from '../../../src/cabinet/contract/contract.ts'
import { ageProofs, PASSWORD, totpCode } from '../../stages/accounts.ts'
import { createAuthenticator } from '../../support/authenticator.ts'
import { arrangeMandates } from './mandate-people.ts'
import { arrangeOrders, type Orders } from './orders.ts'
import type { Person, RequestUsage, ScreensStage } from './stage.ts'

export type PersonName = Exclude<keyof Awaited<ReturnType<typeof arrange>>, 'orders'>
export type People = Readonly<Record<PersonName, Resident>> & { readonly orders: Orders }

export type Resident = Person & {
  /** The active key, which the browser's keyring gets. */
  readonly plain?: string
  /** The browser blocks all storage. */
  readonly isClosed?: true
}

export async function arrange(stage: ScreensStage) {
  // Runs alone, because it moves the clock that all share.
  const regular = await arrangeRegular(stage)
  const orders = await arrangeOrders(stage)
  const [starting, spending, others, mandates] = await Promise.all([
    arrangeStarting(stage),
    arrangeSpending(stage),
    arrangeOthers(stage),
    arrangeMandates(stage),
  ])
  const watchful = await arrangeWatchful(stage)
  return {
    ...{ regular, shopper: orders.shopper, orders },
    ...{ ...starting, ...spending, ...others, ...mandates, ...watchful },
  }
}

const small = (input: number, output: number): RequestUsage => ({
  model: 'model-small',
  counts: { input, output },
})
const large = (input: number, output: number, cacheRead = 0): RequestUsage => ({
  model: 'model-large',
  counts: { input, output, cacheRead },
})

const otherAgents = [
  'Mozilla/5.0 (Windows NT 10.0; rv:140.0) Gecko/20100101 Firefox/140.0',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 19_1 like Mac OS X) AppleWebKit/605.1.15 ' +
    '(KHTML, like Gecko) Version/19.1 Mobile/15E148 Safari/604.1',
]

/** Requests of one working day: thousands of tokens in, out and from the cache. */
const dailyRequests = [3, 5, 1, 0, 6, 8, 7, 9, 4, 2, 0, 7, 11, 6]

/** Two weeks of work, two purchases, an abandoned one; a key, passkeys and two more sessions. */
async function arrangeRegular(stage: ScreensStage): Promise<Resident> {
  const own = await stage.person('anna')
  await stage.ago('13 days', async () => {
    await stage.buyAndPay(own, { pack: 'pack-35m', method: 'sbp' })
  })
  await stage.ago('6 days', async () => {
    const id = await stage.placeOrder(own, { pack: 'pack-100m', method: 'card' })
    await stage.sim('decline', { orderId: id, reason: 'insufficient_funds' })
    await stage.checkUntilState(own, id, 'canceled')
    await stage.buyAndPay(own, { pack: 'pack-100m', method: 'card' })
  })
  for (const [index, requests] of dailyRequests.entries()) {
    const days = dailyRequests.length - 1 - index
    await stage.ago(`${days} days 1 hour`, async () => {
      for (let n = 0; n < requests; n += 1) {
        await stage.chargeRequest(own.book, large(180_000 + n * 13_711, 21_000 + n * 907, 410_500))
      }
      if (days === 7) await stage.markPace(own.book, 'pace')
      if (days === 3) await stage.markPace(own.book, 'mark')
    })
  }
  for (const [minutes, spent] of [
    [41, small(1_204, 388)],
    [23, large(18_920, 2_417, 96_300)],
  ] as const) {
    await stage.ago(`${minutes} minutes`, () => stage.chargeRequest(own.book, spent))
  }
  // A key has served only the requests that came after it.
  const plain = await stage.issueKey(own)
  await stage.chargeRequest(own.book, small(2_310, 512))
  await addPasskeys(stage, own, ['Рабочий ноутбук', 'YubiKey 5C'])
  for (const agent of otherAgents) {
    const { ask } = await stage.client(agent)
    await ask('POST /api/auth/sign-in/email', { email: own.email, password: PASSWORD })
  }
  return { ...own, plain }
}

async function addPasskeys(stage: ScreensStage, own: Person, names: readonly string[]) {
  for (const name of names) {
    const options = await own.ask('GET /api/auth/passkey/generate-register-options')
    type Options = Parameters<ReturnType<typeof createAuthenticator>['register']>[0]
    const response = createAuthenticator(stage.url).register(options as Options)
    await own.ask('POST /api/auth/passkey/verify-registration', { response, name })
  }
}

/** The three steps of a new account. */
async function arrangeStarting(stage: ScreensStage) {
  const [newcomer, payer, keyed]: Resident[] = await Promise.all(
    ['newcomer', 'payer', 'keyed'].map((name) => stage.person(name)),
  )
  if (newcomer === undefined || payer === undefined || keyed === undefined) throw new Error('gone')
  await stage.buyAndPay(payer)
  await stage.buyAndPay(keyed)
  return { newcomer, payer, keyed: { ...keyed, plain: await stage.issueKey(keyed) } }
}

/** Balances for which a page shows a message. */
async function arrangeSpending(stage: ScreensStage) {
  const person = async (name: string, spent: readonly number[]) => {
    const own: Resident = await stage.person(name)
    const order = await stage.buyAndPay(own)
    const plain = await stage.issueKey(own)
    for (const whole of spent) await stage.chargeRequest(own.book, small(whole, 0))
    return { own: { ...own, plain }, order }
  }
  const [low, empty, holding, debtor, blocked, suspended, stopped] = await Promise.all([
    person('low', [20_000_000, 12_400_000]),
    person('empty', [35_000_000]),
    person('holding', [1_000_000]),
    person('debtor', [30_000_000]),
    person('blocked', [1_000]),
    person('suspended', [1_000]),
    person('stopped', [9_000_000]),
  ])
  await stage.holdRequest(holding.own.book, 640_000)
  const dispute = { order: debtor.order, by: 'a test', note: '' }
  await stage.payments.dispute({ ...dispute, act: 'open' })
  await stage.payments.dispute({ ...dispute, act: 'lost' })
  await stage.ledger.block(stage.db, blocked.own.book, 'operator_blocked')
  await stage.ledger.block(stage.db, suspended.own.book, 'owner_suspended')
  await stage.ledger.block(stage.db, stopped.own.book, 'velocity_stopped')
  return {
    ...{ low: low.own, empty: empty.own, holding: holding.own, debtor: debtor.own },
    ...{ blocked: blocked.own, suspended: suspended.own, stopped: stopped.own },
  }
}

/** People whose account or browser is unusual. */
async function arrangeOthers(stage: ScreensStage) {
  const person = async (name: string): Promise<Resident> => {
    const own = await stage.person(name)
    await stage.buyAndPay(own)
    return own
  }
  const [careful, elsewhere, issuer, replacer, unfinished, closed, unkept, asked, stale] =
    await Promise.all([
      person('careful'),
      person('elsewhere'),
      person('issuer'),
      person('replacer'),
      person('unfinished'),
      person('closed'),
      person('unkept'),
      person('asked'),
      person('stale'),
    ])
  const { uri } = await careful.ask<{ uri: string }>('POST /api/auth/two-factor/enable', {
    password: PASSWORD,
  })
  await careful.ask('POST /api/auth/two-factor/verify-totp', { code: totpCode(uri) })
  for (const own of [elsewhere, closed, replacer]) await stage.issueKey(own)
  // Accepted an outdated version, and has an order that can still be paid.
  await stage.db.query('delete from account_consents where account_id = $1', [asked.account])
  await stage.placeOrder(asked, { pack: 'pack-300m' })
  const plain = await stage.issueKey(stale)
  await ageProofs(stage.db, '1 day', stale.email)
  return {
    ...{ careful, elsewhere, issuer, replacer, unfinished, asked },
    stale: { ...stale, plain },
    closed: { ...closed, isClosed: true as const },
    unkept: { ...unkept, isClosed: true as const },
  }
}

/** People whose account was, or may be, in other hands. */
async function arrangeWatchful(stage: ScreensStage) {
  const [guarded, reviewer, moved] = await Promise.all([
    stage.person('guarded'),
    stage.person('reviewer'),
    stage.person('moved'),
  ])
  await addPasskeys(stage, guarded, ['Phone'])
  const { uri } = await guarded.ask<{ uri: string }>('POST /api/auth/two-factor/enable', {
    password: PASSWORD,
  })
  await guarded.ask('POST /api/auth/two-factor/verify-totp', { code: totpCode(uri) })
  await stage.buyAndPay(reviewer)
  await stage.issueKey(reviewer)
  await addPasskeys(stage, reviewer, ['Phone', 'YubiKey 5C'])
  await stage.db.query(
    'update accounts set unreviewed_reset_at = clock_timestamp() where id = $1',
    [reviewer.account],
  )
  await stage.db.query(
    `insert into email_changes
       (account_id, old_email, new_email, undo_hash, undo_until)
     select id, 'former.' || email, email, sha256('a code'),
       clock_timestamp() + interval '7 days'
     from accounts where id = $1`,
    [moved.account],
  )
  return { guarded, reviewer, moved }
}

/** Revokes the key. */
export async function revokeKey(own: Resident): Promise<void> {
  const { active } = await own.ask<contract.KeyState>('GET /api/key')
  if (active !== null) await own.ask('POST /api/key/revoke')
}
