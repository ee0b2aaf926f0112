// Mandates end while top-ups are being posted: by their owner, a deleted card, a refund, a dispute,
// a closed account, a decline, a new mandate. Calls to the bank fail, workers are killed, orders
// wait for hours. The bank counts: no charge without a living mandate when it was posted, none
// above a ceiling, each crossing once, and each charge credited and announced once.
import { type BookId, newAccountId, type OrderId } from '../../src/platform/ids.ts'
import { isRefusal } from '../../src/platform/refusal.ts'
import { kopecks } from '../../src/units/kopecks.ts'
import type { ReceivedCall } from '../../stand-ins/bank/calls.ts'
import { createMandateSteps, emailOf, type MandateSteps } from '../stages/mandates.ts'
import { pack as usualPack } from '../stages/payments.ts'
import { createPaymentStage, type PaymentStage } from '../stages/served/payments.ts'
import type { Drill } from '../support/drill.ts'
import { ensure, percentile, random, sleep } from '../support/drill.ts'

/** The same as in the workers' catalogue. */
const pack = { ...usualPack, id: 'pack-35m' }
const DAY_PACKS = 2n
const MONTH_PACKS = 5n
/** In-process workers beside the worker processes: more of them collide. */
const JOBS = 3
/** How long posts and ends race, for each account: all at once would wait for connections. */
const RACE_MS = 20
/** An order of unknown outcome is canceled when the bank lacks it an hour after the last post. */
const ROUND_SECONDS = 70 * 60
const ROUNDS_MAX = 12
/** From the check to the bank, on a busy machine; a post itself may take 35 s. */
const GAP_MS_MAX = 1_000

/** About four of ten posts of a top-up fail, half of them after the charge. */
const POST_FAULTS = [
  { kind: 'reset', when: 'after', probability: 0.14 },
  { kind: 'error', when: 'before', probability: 0.12 },
  { kind: 'html', when: 'after', probability: 0.06 },
  { kind: 'reset', when: 'before', probability: 0.06 },
  { kind: 'too-many-requests', retryAfterMs: 100, probability: 0.04 },
  { kind: 'slow', delayMs: 150, probability: 0.1 },
]

type Account = { readonly book: BookId; readonly first: OrderId }
type Run = {
  readonly stage: PaymentStage
  readonly steps: MandateSteps
  readonly draw: () => number
  readonly seed: number
}

export const drill: Drill = async ({ isFull, seed, say }) => {
  const size = isFull ? { accounts: 240, kills: 20, days: 3 } : { accounts: 20, kills: 1, days: 1 }
  const stage = await createPaymentStage({
    workers: isFull ? 2 : 1,
    env: { PAYMENTS_HAS_TOP_UPS: 'true', YOOKASSA_POST_TIMEOUT_MS: '2000' },
    yookassa: { postTimeoutMs: 2_000, getTimeoutMs: 2_000 },
    payments: {
      hasTopUps: true,
      packOf: (id) => (id === pack.id ? pack : undefined),
      ownerOf: async (book) => ({
        ...{ email: emailOf(book), language: 'ru', createdAt: new Date(0) },
      }),
    },
  })
  const run = { stage, steps: createMandateSteps(stage), draw: random(seed), seed }
  let killed = Promise.resolve(0)
  try {
    await recordPosts(stage)
    const accounts = await openAccounts(run, size.accounts)
    killed = killWorkers(stage, size.kills)
    await crossOnce(run, accounts)
    say(`${accounts.length} crossings under living mandates were charged once each`)
    const ended = await raceWithEnds(run, accounts)
    say(`${ended} mandates ended while their top-ups were posted`)
    await fillDays(run, accounts, size.days)
    say(`${size.days} days were filled up to their ceilings`)
    const kills = await killed
    const figures = await judge(run, accounts)
    const { gapMsP99 } = figures
    if (isFull) ensure(gapMsP99 <= GAP_MS_MAX, `the check is right before the post (${gapMsP99})`)
    return { accounts: accounts.length, ended, kills, ...figures }
  } finally {
    // Otherwise a worker that is just starting would outlive the program.
    await killed.catch(() => 0)
    await stage.end()
  }
}

/** Records each permission to post, with the end of its mandate as the same transaction sees it. */
async function recordPosts({ db }: PaymentStage): Promise<void> {
  await db.query(`
    create table drill_posts (order_id text, at timestamptz, ended_at timestamptz);
    create function drill_post() returns trigger language plpgsql security definer as $$
    begin
      insert into drill_posts
      select new.id, ledger_now(), (select ended_at from mandates where id = new.consent_id);
      return null;
    end $$;
    create trigger drill_post after update of posted_at on orders
      for each row when (new.is_top_up and new.posted_at is distinct from old.posted_at)
      execute function drill_post()`)
}

async function openAccounts({ stage, steps }: Run, count: number): Promise<Account[]> {
  const accounts: Account[] = []
  const open = async () => {
    const book = await stage.newBook()
    await stage.db.query('insert into accounts (id, email, book_id) values ($1, $2, $3)', [
      newAccountId(),
      emailOf(book),
      book,
    ])
    const first = await steps.purchase(book, true)
    await agree(steps, book)
    accounts.push({ book, first })
  }
  for (let i = 0; i < count; i += 8) {
    await Promise.all(Array.from({ length: Math.min(8, count - i) }, open))
  }
  return accounts
}

const agree = (steps: MandateSteps, book: BookId) =>
  steps.agree(book, {
    pack,
    day: kopecks(DAY_PACKS * pack.priceKopecks),
    month: kopecks(MONTH_PACKS * pack.priceKopecks),
  })

/** Kills a worker process again and again, wherever it is, and starts another. */
async function killWorkers(stage: PaymentStage, kills: number): Promise<number> {
  for (let i = 0; i < kills; i++) {
    await sleep(500)
    const next = await stage.startWorker()
    await stage.workers.shift()?.kill()
    stage.workers.push(next)
  }
  return kills
}

async function withFaults<T>({ stage, seed }: Run, work: () => Promise<T>): Promise<T> {
  for (const fault of POST_FAULTS) {
    await stage.sim('faults', { ...fault, method: 'POST', path: '/payments', seed })
  }
  try {
    return await work()
  } finally {
    await stage.sim('faults', {}, 'DELETE')
  }
}

/** Spends below the threshold, which crosses it once. */
async function cross({ steps }: Run, accounts: readonly Account[]): Promise<void> {
  for (const { book } of accounts) await steps.spendDownTo(book, 500_000)
}

const buy = ({ stage }: Run) =>
  Promise.all(Array.from({ length: JOBS }, () => stage.payments.jobs.topUp()))

/** Moves both clocks on and processes what is due, until no top-up is open. */
async function resolve(run: Run): Promise<void> {
  const { stage } = run
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const seconds = round === 0 ? 120 : ROUND_SECONDS
    await stage.turn({ oursSeconds: seconds, theirsSeconds: seconds })
    const { jobs } = stage.payments
    let done = 1
    while (done > 0) done = (await Promise.all([jobs.recover(), jobs.recover()])).reduce(add, 0)
    await jobs.sweep()
    const { rows } = await stage.db.query(
      `select count(*)::int4 as n from orders where is_top_up and state in ('created', 'pending')`,
    )
    if ((rows[0] as { n: number }).n === 0) return
  }
  ensure(false, `every top-up has its end after ${ROUNDS_MAX} rounds`)
}
const add = (sum: number, one: number) => sum + one

/** Nobody ends a mandate: whatever fails, each crossing is charged once. */
async function crossOnce(run: Run, accounts: readonly Account[]): Promise<void> {
  await withFaults(run, async () => {
    await cross(run, accounts)
    await buy(run)
    await buy(run)
  })
  await resolve(run)
  await buy(run)
  await resolve(run)
  const charged = await chargesByBook(run)
  for (const { book } of accounts) {
    const { length } = charged.get(book) ?? []
    ensure(length === 1, `a crossing is charged once (book ${book}: ${length})`)
  }
}

/** As the worker does with a job that could not read the provider's list. */
async function repeated(job: () => Promise<unknown>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await job()
      return
    } catch (error) {
      if (tries === 5) throw error
      await sleep(500)
    }
  }
}

type End = (run: Run, account: Account) => Promise<unknown>
const ends: readonly End[] = [
  ({ stage }, { book }) => stage.payments.topUps.turnOff(book),
  ({ stage }, { book }) => stage.db.transaction((tx) => stage.payments.topUps.forget(tx, book)),
  ({ stage }, { book }) => stage.db.transaction((tx) => stage.payments.topUps.close(tx, book)),
  ({ stage }, { book, first }) =>
    stage.payments.requestRefund({ order: first, book, attempt: 'r', by: 'owner', reason: '' }),
  async ({ stage }, { first }) => {
    await stage.sim('refund', { orderId: first, amount: '1.00' })
    await repeated(() => stage.payments.jobs.sweepRefunds())
  },
  ({ stage }, { first }) =>
    stage.payments.dispute({ act: 'open', order: first, by: 'a drill', note: '' }),
  ({ stage }, { first }) => stage.sim('method', { orderId: first, decline: 'insufficient_funds' }),
  ({ steps }, { book }) => agree(steps, book),
]

/** Each account's mandate ends at a random moment while workers post its top-up. */
async function raceWithEnds(run: Run, accounts: readonly Account[]): Promise<number> {
  const { stage, draw } = run
  const raceMs = RACE_MS * accounts.length
  await withFaults(run, async () => {
    await cross(run, accounts)
    const posting = (async () => {
      const until = performance.now() + raceMs
      while (performance.now() < until) await buy(run)
    })()
    const ending = accounts.map(async (account, index) => {
      await sleep(draw() * raceMs)
      const end = ends[index % ends.length]
      await end?.(run, account).catch((error: unknown) => {
        // A first pack without unspent credits cannot be refunded; the mandate then lives on.
        if (!isRefusal(error)) throw error
      })
    })
    await Promise.all([posting, ...ending])
  })
  await resolve(run)
  const { rows } = await stage.db.query(
    'select count(*)::int4 as n from mandates where ended_at is not null',
  )
  return (rows[0] as { n: number }).n
}

/** Crosses more often than a day's ceiling allows, on several days, also with announced charges. */
async function fillDays(run: Run, accounts: readonly Account[], days: number): Promise<void> {
  const { stage } = run
  const living = await livingAccounts(run, accounts)
  for (const { book } of living.slice(0, 3)) {
    await stage.payments.topUps.setAdvanceNotice(book, true)
  }
  for (let day = 0; day < days; day++) {
    await stage.turn({ oursSeconds: 86_400, theirsSeconds: 86_400 })
    for (let crossing = 0n; crossing <= DAY_PACKS; crossing++) {
      await cross(run, living)
      await buy(run)
      await stage.payments.jobs.recover()
    }
  }
  // Announced charges come after two hours; some of their mandates end before.
  const [ended] = living
  if (ended !== undefined) await stage.payments.topUps.turnOff(ended.book)
  await stage.turn({ oursSeconds: 7_260, theirsSeconds: 7_260 })
  await resolve(run)
}

async function livingAccounts({ stage }: Run, accounts: readonly Account[]) {
  const { rows } = await stage.db.query(
    'select book_id as book from mandates where ended_at is null',
  )
  const living = new Set((rows as { book: BookId }[]).map(({ book }) => book))
  return accounts.filter(({ book }) => living.has(book))
}

type Charge = { readonly order: string; readonly book: BookId; readonly atMs: number }

/** What the bank charged for top-ups, by book. */
async function chargesByBook({ stage }: Run): Promise<Map<BookId, Charge[]>> {
  const { payments } = await stage.sim('payments?status=succeeded&last=100000', {}, 'GET')
  const { rows } = await stage.db.query('select id, book_id as book from orders where is_top_up')
  const books = new Map((rows as { id: string; book: BookId }[]).map(({ id, book }) => [id, book]))
  const found = new Map<BookId, Charge[]>()
  type Paid = { readonly metadata: { order_id: string }; readonly captured_at: string }
  for (const { metadata, captured_at } of payments as Paid[]) {
    const book = books.get(metadata.order_id)
    if (book === undefined) continue
    const charge = { order: metadata.order_id, book, atMs: Date.parse(captured_at) }
    found.set(book, [...(found.get(book) ?? []), charge])
  }
  return found
}

async function judge(run: Run, accounts: readonly Account[]) {
  const { stage } = run
  const charged = await chargesByBook(run)
  const all = [...charged.values()].flat()
  for (const { book } of accounts) judgeCeilings(charged.get(book) ?? [])
  const { rows } = await stage.db.query(
    `select o.id, (select count(*)::int4 from entries e
       where e.kind = 'purchase' and e.ref = o.id) as entries,
       (select count(*)::int4 from letters l
        where l.kind = 'top-up-credited' and l.once = o.id) as emails
     from orders o where o.is_top_up and o.credited_at is not null`,
  )
  const credited = rows as { id: string; entries: number; emails: number }[]
  ensure(credited.length === all.length, `each charge is credited (${all.length} charges)`)
  const isOnce = credited.every(({ entries, emails }) => entries === 1 && emails === 1)
  ensure(isOnce, 'each charge has one entry and one e-mail')
  const posts = await judgePosts(run)
  const findings = await stage.ledger.audit('all')
  ensure(findings.length === 0, `the audit is empty (${findings[0]?.rule} ${findings[0]?.detail})`)
  return { charges: all.length, ...posts, findings: findings.length }
}

function judgeCeilings(charges: readonly Charge[]): void {
  const packs = (length: number) => {
    const counts = new Map<string, bigint>()
    for (const { atMs } of charges) {
      const period = new Date(atMs).toISOString().slice(0, length)
      counts.set(period, (counts.get(period) ?? 0n) + 1n)
    }
    return [...counts.values()]
  }
  ensure(
    packs('2026-11-17'.length).every((count) => count <= DAY_PACKS),
    'no day costs more than its ceiling',
  )
  ensure(
    packs('2026-11'.length).every((count) => count <= MONTH_PACKS),
    'no month costs more than its ceiling',
  )
}

/** Each post had a permission of its own, and its mandate lived then. */
async function judgePosts({ stage }: Run) {
  const { rows } = await stage.db.query(
    `select p.order_id as id, p.at, p.ended_at as "endedAt", m.ended_at as "endedLater"
     from drill_posts p join orders o on o.id = p.order_id
     left join mandates m on m.id = o.consent_id order by p.at`,
  )
  type Permission = { id: string; at: Date; endedAt: Date | null; endedLater: Date | null }
  const permissions = Map.groupBy(rows as Permission[], ({ id }) => id)
  const { calls } = await stage.sim('calls?method=POST&last=100000', {}, 'GET')
  const { rows: orders } = await stage.db.query('select id from orders where is_top_up')
  const gaps: number[] = []
  let inFlight = 0
  for (const { id } of orders as { id: string }[]) {
    const allowed = permissions.get(id) ?? []
    ensure(
      allowed.every(({ endedAt }) => endedAt === null),
      `a post is permitted only under a living mandate (${id})`,
    )
    const made = (calls as ReceivedCall[]).filter(
      ({ orderId, path }) => orderId === id && path.startsWith('/v3/payments'),
    )
    ensure(made.length <= allowed.length, `each post has its own permission (${id})`)
    for (const { at } of made) {
      const last = allowed.findLast((one) => one.at.getTime() <= Date.parse(at) + 1)
      // The two clocks are moved one after the other; what happens in between has no gap.
      if (last === undefined) continue
      gaps.push(Date.parse(at) - last.at.getTime())
      if (last.endedLater !== null && Date.parse(at) > last.endedLater.getTime()) inFlight += 1
    }
  }
  const gapMsP99 = Math.max(0, percentile(gaps, 0.99))
  return { posts: gaps.length, gapMsP99, endedWhileSent: inFlight }
}
