// Who stands where: people in every situation that a page knows. They are arranged once and then
// only looked at, so that each screen can be opened as often as one likes.
import type * as contract from '../../../src/cabinet/contract/contract.ts'
import { appCode, PASSWORD } from '../../stages/accounts.ts'
import { createAuthenticator } from '../../support/authenticator.ts'
import { arrangeOrders, type Orders } from './orders.ts'
import type { Person, ScreensStage, Spent } from './stage.ts'

export type Who = Exclude<keyof Awaited<ReturnType<typeof arrange>>, 'orders'>
export type People = Readonly<Record<Who, Resident>> & { readonly orders: Orders }

export type Resident = Person & {
  /** The key in force, which the browser is given to keep. */
  readonly plain?: string
  /** The browser lets no page keep anything. */
  readonly isClosed?: true
}

export async function arrange(stage: ScreensStage) {
  // Alone, because it turns the clock that everybody has.
  const regular = await arrangeRegular(stage)
  const orders = await arrangeOrders(stage)
  const [starting, spending, others] = await Promise.all([
    arrangeStarting(stage),
    arrangeSpending(stage),
    arrangeOthers(stage),
  ])
  return { regular, shopper: orders.shopper, ...starting, ...spending, ...others, orders }
}

const small = (input: number, output: number): Spent => ({
  model: 'model-small',
  counts: { input, output },
})
const large = (input: number, output: number, cacheRead = 0): Spent => ({
  model: 'model-large',
  counts: { input, output, cacheRead },
})

const otherAgents = [
  'Mozilla/5.0 (Windows NT 10.0; rv:140.0) Gecko/20100101 Firefox/140.0',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 19_1 like Mac OS X) AppleWebKit/605.1.15 ' +
    '(KHTML, like Gecko) Version/19.1 Mobile/15E148 Safari/604.1',
]

/** Requests of one working day: thousands of tokens in, out and from the cache. */
const habits = [3, 5, 1, 0, 6, 8, 7, 9, 4, 2, 0, 7, 11, 6]

/** Two weeks of work, two purchases, an abandoned one; a key, passkeys and two more sessions. */
async function arrangeRegular(stage: ScreensStage): Promise<Resident> {
  const own = await stage.person('anna')
  await stage.ago('13 days', async () => {
    await stage.bought(own, { pack: 'pack-35m', method: 'sbp' })
  })
  await stage.ago('6 days', async () => {
    const id = await stage.ordered(own, { pack: 'pack-100m', method: 'card' })
    await stage.sim('decline', { orderId: id, reason: 'insufficient_funds' })
    await stage.looked(own, id, 'canceled')
    await stage.bought(own, { pack: 'pack-100m', method: 'card' })
  })
  for (const [index, requests] of habits.entries()) {
    const days = habits.length - 1 - index
    await stage.ago(`${days} days 1 hour`, async () => {
      for (let n = 0; n < requests; n += 1) {
        await stage.requested(own.book, large(180_000 + n * 13_711, 21_000 + n * 907, 410_500))
      }
    })
  }
  for (const [minutes, spent] of [
    [41, small(1_204, 388)],
    [23, large(18_920, 2_417, 96_300)],
  ] as const) {
    await stage.ago(`${minutes} minutes`, () => stage.requested(own.book, spent))
  }
  // A key has served only what came after it.
  const plain = await stage.keyed(own)
  await stage.requested(own.book, small(2_310, 512))
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

/** The three steps of a newcomer. */
async function arrangeStarting(stage: ScreensStage) {
  const [newcomer, payer, keyed]: Resident[] = await Promise.all(
    ['newcomer', 'payer', 'keyed'].map((name) => stage.person(name)),
  )
  if (newcomer === undefined || payer === undefined || keyed === undefined) throw new Error('gone')
  await stage.bought(payer)
  await stage.bought(keyed)
  return { newcomer, payer, keyed: { ...keyed, plain: await stage.keyed(keyed) } }
}

/** Balances that a page has something to say about. */
async function arrangeSpending(stage: ScreensStage) {
  const person = async (name: string, spent: readonly number[]) => {
    const own: Resident = await stage.person(name)
    const order = await stage.bought(own)
    const plain = await stage.keyed(own)
    for (const whole of spent) await stage.requested(own.book, small(whole, 0))
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
  await stage.requesting(holding.own.book, 640_000)
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

/** Those whose account or browser is out of the ordinary. */
async function arrangeOthers(stage: ScreensStage) {
  const person = async (name: string): Promise<Resident> => {
    const own = await stage.person(name)
    await stage.bought(own)
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
  await careful.ask('POST /api/auth/two-factor/verify-totp', { code: appCode(uri) })
  for (const own of [elsewhere, closed, replacer]) await stage.keyed(own)
  // Agreed to a version that is not the one in force, and has an order that can still be paid.
  await stage.db.query('delete from account_consents where account_id = $1', [asked.account])
  await stage.ordered(asked, { pack: 'pack-300m' })
  const plain = await stage.keyed(stale)
  await stage.db.query(
    `update sessions set created_at = created_at - interval '1 day' where account_id = $1`,
    [stale.account],
  )
  return {
    ...{ careful, elsewhere, issuer, replacer, unfinished, asked },
    stale: { ...stale, plain },
    closed: { ...closed, isClosed: true as const },
    unkept: { ...unkept, isClosed: true as const },
  }
}

/** No key at all: what was there is revoked. */
export async function withoutKey(own: Resident): Promise<void> {
  const { active } = await own.ask<contract.KeyState>('GET /api/key')
  if (active !== null) await own.ask('POST /api/key/revoke')
}
