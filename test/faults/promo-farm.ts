// One person farms promo codes with many accounts: the same mailbox in many spellings, purchases
// that are refunded, accounts that are closed, erased and registered again, all at once and from
// three processes. Each code goes to a mailbox at most once ever, no refunded purchase has opened
// one, and nobody gets more refunds than the budget. Every account also asks for a trial, from a
// few networks: one for a mailbox ever, three for a network, and never above the day's ceiling.

import type { Payments } from '../../src/payments/payments.ts'
import type { BookId, OrderId } from '../../src/platform/ids.ts'
import { normalizeAddress } from '../../src/platform/mail/normalize-address.ts'
import { isRefusal } from '../../src/platform/refusal.ts'
import { credits } from '../../src/units/credits.ts'
import { createTestPayments, pack, type TestPayments } from '../stages/payments.ts'
import type { Drill } from '../support/drill.ts'
import { ensure, random } from '../support/drill.ts'

const FULL = { mailboxes: 40, codes: 12, steps: 4_000, atOnce: 16 }
const SHORT = { mailboxes: 4, codes: 4, steps: 160, atOnce: 8 }
const REFUNDS_PER_MONTH = 3
/** So that the short form already meets each limit. */
const TRIAL = { credits: 10, perNetworkDay: 3 }

/** Refusals that a farmer may meet; every other error fails the program. */
const EXPECTED = [
  'promo_refused',
  'promo_attempts_exceeded',
  'refund_refused',
  'refund_needs_support',
  'refund_exceeds_unspent',
] as const

type Account = { readonly book: BookId; readonly email: string; readonly orders: OrderId[] }
type Counts = Record<string, number>

export const drill: Drill = async ({ isFull, seed, say }) => {
  const size = isFull ? FULL : SHORT
  const emails = new Map<BookId, string>()
  const stage = await createTestPayments({
    payments: {
      refundsPerMonth: REFUNDS_PER_MONTH,
      promoTriesPerHour: 1_000,
      trial: { ...TRIAL, creditsPerDay: trialCeiling(size.mailboxes) },
      ownerOf: async (book) => {
        const email = emails.get(book)
        return email === undefined ? undefined : { email, language: 'ru', createdAt: new Date(0) }
      },
    },
  })
  try {
    const codes = await makeCodes(stage, size.codes)
    const farm = createFarm(stage, {
      ...size,
      networks: Math.ceil(size.mailboxes / 3),
      codes,
      emails,
      draw: random(seed),
    })
    await Promise.all(
      Array.from({ length: size.atOnce }, () => farm.work(size.steps / size.atOnce)),
    )
    const figures = { ...(await check(stage, emails)), ...(await checkTrials(stage, size)) }
    const { accounts, erased, counts } = farm.state
    say(`${accounts} accounts of ${size.mailboxes} mailboxes, ${erased} of them erased`)
    return {
      ...{ mailboxes: size.mailboxes, accounts, erased, codes: codes.length },
      ...figures,
      done: Object.entries(counts)
        .toSorted()
        .map(([name, count]) => `${name}: ${count}`)
        .join(', '),
    }
  } finally {
    await stage.end()
  }
}

/** Every second code is for buyers, and each could be used by every account. */
async function makeCodes({ payments }: TestPayments, count: number): Promise<string[]> {
  const made: string[] = []
  for (let i = 0; i < count; i++) {
    const { code } = await payments.createPromo({
      ...{ code: `FARM-${i}`, credits: credits(1_000), redemptionsMax: 100_000 },
      ...{ purchasesMin: i % 2 === 0 ? 0 : 1 + ((i >> 1) % 2), by: 'a drill', note: '' },
      startsAt: new Date(Date.now() - 60_000),
      endsAt: new Date(Date.now() + 3_600_000),
    })
    made.push(code)
  }
  return made
}

function createFarm(
  stage: TestPayments,
  options: {
    readonly mailboxes: number
    readonly networks: number
    readonly codes: readonly string[]
    readonly emails: Map<BookId, string>
    readonly draw: () => number
  },
) {
  const { draw, emails } = options
  const processes = [stage.payments, stage.open(), stage.open()]
  const open: Account[] = []
  const state = { accounts: 0, bought: 0, erased: 0, counts: {} as Counts }
  const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(draw() * list.length)]

  /** A spelling of a mailbox, which the mail server delivers to the same person. */
  function spelling(): string {
    const n = Math.floor(draw() * options.mailboxes)
    const tag = draw() < 0.5 ? `+${Math.floor(draw() * 1_000)}` : ''
    if (n % 3 === 0) return `farmer.${n}${tag}@example.org`
    const either = (one: string, other: string) => (draw() < 0.5 ? one : other)
    if (n % 3 === 1) {
      return `fa${either('.', '')}rmer${n}${tag}@${either('gmail', 'googlemail')}.com`
    }
    return `Farmer${either('.', '-')}${n}${tag}@${either('ya', 'yandex')}.ru`
  }

  /** Both notations of a network of the farmer; another address of it each time. */
  function network(): string {
    const n = Math.floor(draw() * options.networks)
    const host = 1 + Math.floor(draw() * 250)
    return n % 2 === 0 ? `198.51.${n}.${host}` : `2001:db8:${n.toString(16)}:${host}::1`
  }

  /** The book is made in the transaction that grants its trial, as at a confirmation. */
  async function register(payments: Payments): Promise<void> {
    const email = spelling()
    const address = network()
    const book = await stage.db.transaction(async (tx) => {
      const made = await stage.ledger.createBook(tx)
      const got = await payments.grantTrial(tx, { book: made, email, address })
      const outcome = got === undefined ? 'no trial' : 'trial'
      state.counts[outcome] = (state.counts[outcome] ?? 0) + 1
      return made
    })
    emails.set(book, email)
    open.push({ book, email, orders: [] })
    state.accounts += 1
  }

  async function buy(payments: Payments, { book, email, orders }: Account): Promise<void> {
    // A price of its own, because an open order for the same price would be used again.
    state.bought += 1
    const priceKopecks = (pack.priceKopecks + BigInt(state.bought)) as typeof pack.priceKopecks
    const { id } = await stage.buy(book, { email, pack: { ...pack, priceKopecks } })
    await stage.sim('pay', { orderId: id })
    await payments.check(id)
    orders.push(id)
  }

  async function refund(payments: Payments, { book, orders }: Account): Promise<void> {
    const order = pick(orders)
    if (order === undefined) return
    const asked = { attempt: `again ${Math.floor(draw() * 3)}`, by: 'farmer', reason: 'farming' }
    await payments.requestRefund({ order, book, ...asked })
  }

  /** The term between closing and erasing is over at once. */
  async function eraseOldest(payments: Payments): Promise<void> {
    const gone = open.shift()
    if (gone === undefined) return
    emails.delete(gone.book)
    await stage.db.transaction((tx) => payments.erase(tx, gone.book))
    state.erased += 1
  }

  /** Two tabs at once: the code with the refund of a purchase that could open it. */
  async function race(payments: Payments, account: Account): Promise<void> {
    const code = pick(options.codes) ?? ''
    const results = await Promise.allSettled([
      payments.redeem(account.book, code),
      refund(payments, account),
    ])
    for (const one of results) if (one.status === 'rejected') count(one.reason)
  }

  function count(error: unknown): void {
    const code = EXPECTED.find((known) => isRefusal(error, known))
    if (code === undefined) throw error
    state.counts[code] = (state.counts[code] ?? 0) + 1
  }

  async function step(): Promise<void> {
    const payments = pick(processes) ?? stage.payments
    const account = pick(open)
    const share = draw()
    if (account === undefined || share < 0.15) return register(payments)
    if (share < 0.4) return buy(payments, account)
    if (share < 0.7) {
      await payments.redeem(account.book, pick(options.codes) ?? '')
      state.counts.redeemed = (state.counts.redeemed ?? 0) + 1
      return
    }
    if (share < 0.82) return refund(payments, account)
    if (share < 0.94) return race(payments, account)
    return eraseOldest(payments)
  }

  return {
    state,
    async work(steps: number): Promise<void> {
      for (let i = 0; i < steps; i++) await step().catch(count)
    },
  }
}

/** Compares what was given with what the rules allow, from the rows. */
async function check(stage: TestPayments, emails: ReadonlyMap<BookId, string>) {
  const { db, ledger } = stage
  const given = await rowsOf<{ code: string; book: BookId }>(
    stage,
    'select code, book_id as book from promo_redemptions',
  )
  // Of open accounts the spelling is known; for erased ones the digest is the only trace.
  const living = given.flatMap(({ code, book }) => {
    const email = emails.get(book)
    return email === undefined ? [] : [`${code} ${normalizeAddress(email)}`]
  })
  ensure(new Set(living).size === living.length, 'no mailbox used a code twice')
  const twice = await rowsOf(
    stage,
    `select code from promo_redemptions group by code, address_digest having count(*) > 1`,
  )
  ensure(twice.length === 0, 'no digest used a code twice, also of erased accounts')
  const undigested = await rowsOf(
    stage,
    'select code from promo_redemptions where address_digest is null',
  )
  ensure(undigested.length === 0, 'every redemption has a digest')

  const refunded = await rowsOf(
    stage,
    `select p.order_id from promo_purchases p join refunds r on r.order_id = p.order_id
     where r.state <> 'canceled'`,
  )
  ensure(refunded.length === 0, `no refunded purchase opened a code (${refunded.length})`)
  const wrong = await rowsOf(
    stage,
    `select r.code from promo_redemptions r join promo_codes c on c.code = r.code
     where c.purchases_min <> (select count(*) from promo_purchases p
       where p.code = r.code and p.book_id = r.book_id)`,
  )
  ensure(wrong.length === 0, `each code for buyers was opened by its purchases (${wrong.length})`)

  const above = await rowsOf(
    stage,
    `select owner_digest from refunds where owner_digest is not null and state <> 'canceled'
     group by owner_digest having count(*) > ${REFUNDS_PER_MONTH}`,
  )
  ensure(above.length === 0, `no mailbox has more refunds than the budget (${above.length})`)
  const { rows } = await db.query(
    `select (select count(*)::int4 from entries
         where kind = 'promo' and note <> 'trial') as entries,
       (select count(*)::int4 from promo_purchases) as "purchasesUsed",
       (select count(*)::int4 from refunds) as refunds`,
  )
  const sums = rows[0] as { entries: number; purchasesUsed: number; refunds: number }
  ensure(sums.entries === given.length, 'each redemption has one entry in the ledger')
  const findings = await ledger.audit('all')
  ensure(findings.length === 0, `the audit is empty (${findings[0]?.rule})`)
  const { purchasesUsed, refunds } = sums
  return { redemptions: given.length, purchasesUsed, refunds, findings: findings.length }
}

/** Below what the mailboxes could get, so that the ceiling is met; the last trial fits exactly. */
function trialCeiling(mailboxes: number): number {
  return TRIAL.credits * Math.max(2, Math.floor(mailboxes * 0.75))
}

async function checkTrials(stage: TestPayments, { mailboxes }: { readonly mailboxes: number }) {
  const twice = await rowsOf(
    stage,
    'select from trials group by address_digest having count(*) > 1',
  )
  ensure(twice.length === 0, 'no mailbox got two trials')
  const crowded = await rowsOf(
    stage,
    `select from trial_networks where trials > ${TRIAL.perNetworkDay}`,
  )
  ensure(crowded.length === 0, 'no network got more trials than a day has')
  const [sums] = await rowsOf<{ trials: number; granted: bigint; counted: bigint; posted: bigint }>(
    stage,
    `select (select count(*)::int4 from trials) as trials,
       (select coalesce(sum(credits), 0)::int8 from trials) as granted,
       (select coalesce(sum(credits), 0)::int8 from trial_days) as counted,
       (select coalesce(sum(amount), 0)::int8 from entries
        where kind = 'promo' and note = 'trial') as posted`,
  )
  const { trials = 0, granted = -1n, counted = -2n, posted = -3n } = sums ?? {}
  ensure(granted === counted && granted === posted, 'rows, days and ledger have the same sum')
  ensure(granted <= credits(trialCeiling(mailboxes)), `the ceiling held (${granted})`)
  ensure(trials > 0, 'somebody got a trial')
  return { trials }
}

async function rowsOf<T = unknown>({ db }: TestPayments, sql: string): Promise<T[]> {
  return (await db.query(sql)).rows as T[]
}
