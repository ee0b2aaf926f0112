// What owners, payers, the bank, operators and clients do in a random month. A deed that the
// product refuses changes nothing.
import type { BookId, OrderId } from '../../../src/platform/ids.ts'
import { newHoldId } from '../../../src/platform/ids.ts'
import { type Credits, credits, micro } from '../../../src/units/credits.ts'
import type { Kopecks } from '../../../src/units/kopecks.ts'
import { noTokens, tokens } from '../../../src/units/tokens.ts'
import { COEFFICIENT, unlessRefused, type World } from './world.ts'

export type Cast = {
  readonly books: BookId[]
  /** Paid, and credited when somebody looks. */
  readonly unseen: OrderId[]
  readonly orders: OrderId[]
  /** Requests that wait for their end. */
  readonly running: (() => Promise<unknown>)[]
  deeds: number
}

export const newCast = (): Cast => ({ books: [], unseen: [], orders: [], running: [], deeds: 0 })

export function chooser(world: World) {
  const below = (n: number) => Math.floor(world.draw() * n)
  return { below, pick: <T>(items: readonly T[]): T | undefined => items[below(items.length)] }
}

type Deed = (world: World, cast: Cast) => Promise<unknown>

async function buy(world: World, cast: Cast): Promise<OrderId | undefined> {
  const { pick } = chooser(world)
  const book = pick(cast.books.filter((one) => !world.closed.has(one)))
  const pack = pick([...world.packs.values()])
  if (book === undefined || pack === undefined) return undefined
  cast.deeds += 1
  const attempt = `attempt of the month ${cast.deeds}`
  const method = cast.deeds % 3 === 0 ? 'sbp' : 'card'
  const order = await unlessRefused(world.stage.buy(book, { pack, attempt, method }))
  return order?.id
}

async function pay(world: World, id: OrderId, change: object = {}): Promise<void> {
  if (Object.keys(change).length > 0) await world.sim('alter', { orderId: id, ...change })
  await world.sim('pay', { orderId: id }).catch(() => undefined)
}

const check = (world: World, id: OrderId) => unlessRefused(world.payments.check(id))

/** The order of a deed about money that came: one that was paid and perhaps credited. */
async function purchase(world: World, cast: Cast): Promise<void> {
  const id = await buy(world, cast)
  if (id === undefined) return
  await pay(world, id)
  await check(world, id)
  cast.orders.push(id)
}

const deeds: Readonly<Record<string, Deed>> = {
  purchase,
  'purchase again': purchase,

  async 'late capture'(world, cast) {
    const id = await buy(world, cast)
    if (id === undefined) return
    await pay(world, id)
    cast.unseen.push(id)
  },

  async 'another amount'(world, cast) {
    const id = await buy(world, cast)
    if (id === undefined) return
    const income = { value: '6.70', currency: 'RUB' }
    await pay(world, id, { value: '6.99', members: { income_amount: income } })
    await check(world, id)
    const queue = await world.payments.reviewQueue()
    const review = queue.find((one) => one.order === id)
    const decision = chooser(world).pick(['credit', 'refund', undefined] as const)
    if (review === undefined || decision === undefined) return
    const input = { id: review.id, decision, by: 'olga', note: 'a test' }
    await unlessRefused(world.payments.resolveReview(input))
  },

  async 'promo code'(world, cast) {
    const { below, pick } = chooser(world)
    const book = pick(cast.books)
    if (book === undefined) return
    cast.deeds += 1
    const dayMs = 86_400_000
    const now = world.clock.nowMs()
    const code = `MONTH-${cast.deeds}`
    await world.payments.createPromo({
      ...{ code, credits: micro(BigInt(1 + below(9)) * 777_000_001n), redemptionsMax: 3 },
      ...{ startsAt: new Date(now - dayMs), endsAt: new Date(now + dayMs) },
      ...{ by: 'olga', note: '' },
    })
    await unlessRefused(world.payments.redeem(book, code))
  },

  async gift(world, cast) {
    const book = chooser(world).pick(cast.books)
    if (book === undefined || world.closed.has(book)) return
    cast.deeds += 1
    const given = { book, ref: `op gift ${cast.deeds}`, amount: micro(123_456_789n), note: '' }
    const { ledger } = world
    await ledger.db.transaction((tx) => ledger.gift(tx, given))
  },

  async adjustment(world, cast) {
    const { below, pick } = chooser(world)
    const book = pick(cast.books)
    if (book === undefined || world.closed.has(book)) return
    cast.deeds += 1
    const contra = pick(['loss', 'promo', 'revenue', 'clearing'] as const) ?? 'loss'
    const size = BigInt(1 + below(5_000_000)) * 1_000_003n
    const amount = micro(below(2) === 0 ? size : -size)
    const { ledger } = world
    const change = { book, ref: `op adjust ${cast.deeds}`, amount, contra, note: '' }
    await unlessRefused(ledger.db.transaction((tx) => ledger.adjust(tx, change)))
  },

  async refund(world, cast) {
    const { below, pick } = chooser(world)
    const order = pick(cast.orders)
    if (order === undefined) return
    cast.deeds += 1
    const isHeld = below(3) === 0
    if (isHeld) await world.sim('hold-refunds', { isHeld })
    const part = below(2) === 0 ? { amountKopecks: BigInt(1 + below(40_000)) as Kopecks } : {}
    const asked = { order, attempt: `refund ${cast.deeds}`, by: 'olga', reason: '', ...part }
    await unlessRefused(world.payments.requestRefund(asked))
    if (isHeld) await world.sim('hold-refunds', { isHeld: false })
  },

  async 'refund in the portal'(world, cast) {
    const orderId = chooser(world).pick(cast.orders)
    if (orderId === undefined) return
    await world.sim('refund', { orderId, value: '3.33' }).catch(() => undefined)
    await world.payments.jobs.sweepRefunds()
  },

  async 'decision about refunds'(world) {
    const { refunds } = await world.sim('refunds?last=1000', {}, 'GET')
    const all = refunds as { id: string; status: string }[]
    const open = all.find(({ status }) => status === 'pending')
    if (open === undefined) return
    const act = chooser(world).below(2) === 0 ? 'complete-refund' : 'cancel-refund'
    await world.sim(act, { refundId: open.id })
  },

  async dispute(world, cast) {
    const { below, pick } = chooser(world)
    const order = pick(cast.orders)
    if (order === undefined) return
    const part = below(2) === 0 ? { amountKopecks: BigInt(1 + below(600)) as Kopecks } : {}
    const input = { order, by: 'olga', note: '', ...part }
    await unlessRefused(world.payments.dispute({ ...input, act: 'open' }))
  },

  async 'end of a dispute'(world) {
    const open = (await world.payments.disputes(100)).find((one) => one.state === 'opened')
    if (open === undefined) return
    const act = chooser(world).pick(['won', 'lost'] as const) ?? 'lost'
    await unlessRefused(world.payments.dispute({ order: open.order, by: 'olga', note: '', act }))
  },

  async 'failed receipt'(world, cast) {
    const orderId = chooser(world).pick(cast.orders)
    if (orderId === undefined) return
    const status = chooser(world).pick(['canceled', 'pending', 'succeeded'])
    await world.sim('receipt', { orderId, status }).catch(() => undefined)
    await check(world, orderId)
  },

  async 'sums of usage'({ ledger }) {
    await ledger.aggregateUsage()
  },
}

/** Every account has a pack, so that most requests are admitted. */
export async function buyFirstPacks(world: World, cast: Cast): Promise<void> {
  for (const book of cast.books) {
    const { id } = await world.stage.buy(book, { attempt: `first ${book}` })
    await pay(world, id)
    await check(world, id)
    cast.orders.push(id)
  }
}

/** A new owner pays, and nobody looks: the order is credited after the month. */
export async function captureLate(world: World, cast: Cast): Promise<void> {
  const book = await world.stage.newBook()
  const order = await world.stage.buy(book, { attempt: `late ${book}` })
  await pay(world, order.id)
  cast.books.push(book)
  cast.unseen.push(order.id)
}

/** A person closes the account, forfeits the rest, and is erased. */
export async function closeAndErase(world: World, cast: Cast): Promise<void> {
  const { ledger, payments } = world
  const book = cast.books.find((one) => !world.closed.has(one))
  if (book === undefined || cast.books.length - world.closed.size < 2) return
  world.closed.add(book)
  await ledger.db.transaction(async (tx) => {
    const left = (await ledger.balance(book, tx))?.available ?? 0n
    const entry = { book, ref: `closing ${book}`, amount: micro(-left), note: 'closed' }
    if (left > 0n) await ledger.adjust(tx, { ...entry, contra: 'revenue' })
    await payments.erase(tx, book)
  })
}

export async function doSomething(world: World, cast: Cast): Promise<void> {
  const names = Object.keys(deeds)
  const name = chooser(world).pick(names) ?? 'purchase'
  await deeds[name]?.(world, cast)
}

/** Workers look at what came meanwhile. */
export async function runJobs({ payments: { jobs } }: World): Promise<void> {
  await jobs.applyNotification()
  await jobs.pollRefunds()
  await jobs.sweepRefunds()
}

/** Requests of random books, some at a time. */
export async function sendRequests(world: World, cast: Cast, count: number): Promise<void> {
  const AT_A_TIME = 64
  for (let sent = 0; sent < count; sent += AT_A_TIME) {
    const some = Math.min(AT_A_TIME, count - sent)
    await Promise.all(Array.from({ length: some }, () => sendRequest(world, cast)))
  }
}

async function sendRequest(world: World, cast: Cast): Promise<void> {
  const { below, pick } = chooser(world)
  const book = pick(cast.books.filter((one) => !world.closed.has(one)))
  const tariff = pick(world.tariffs)
  if (book === undefined || tariff === undefined) return
  const { ledger } = world
  const id = newHoldId(0, world.clock.nowMs())
  const [input, output] = [1 + below(4_000), below(900)]
  const priced = credits(BigInt(input) + BigInt(output) * COEFFICIENT)
  // Some replies cost more than was set aside for them: the rest is written off.
  const worst = (below(25) === 0 ? priced / 2n : priced + credits(below(500))) as Credits
  const hold = { id, book, tariff, fence: 0n, worst, floor: worst }
  const [kind, firstByteMs, totalMs] = [below(40), 100 + below(900), 1_000 + below(4_000)]
  const details = { waitedMs: 1, firstByteMs, totalMs, target: 'east' }
  if ((await unlessRefused(ledger.hold(hold))) === undefined) return
  const counts = { ...noTokens, input: tokens(input), output: tokens(output) }
  const settle = () =>
    ledger.settle({
      ...{ id, book, counts, priced, isEstimated: false, messageId: null, details },
      ending: 'complete',
    })
  const release = (ending: 'refused' | 'given_up' | 'process_lost') =>
    ledger.void({ id, book, tariff, ending, reason: '', details: { status: 500 }, parts: null })
  if (kind === 0) await release('refused')
  else if (kind === 1) await release('given_up')
  else if (kind === 2) {
    // The sweeper released it; the process comes back and settles what is still available.
    await release('process_lost')
    await settle()
  } else if (kind === 3 && cast.running.length < 5) cast.running.push(settle)
  else await settle()
}
