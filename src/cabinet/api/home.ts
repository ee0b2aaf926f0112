// The first page: what is left, what it is worth, how long it lasts, and what to do next. Every
// number comes from the ledger and the orders at the moment it is asked for; only what can never
// change again is remembered.
import { z } from 'zod'
import type { Guards } from '../../guards/guards.ts'
import type { Keys } from '../../keys/keys.ts'
import type { Ledger, UsedDay } from '../../ledger/ledger.ts'
import type { OrderView, Payments } from '../../payments/payments.ts'
import { assert } from '../../platform/assert.ts'
import { type Clock, dateAt } from '../../platform/clock.ts'
import type { BookId } from '../../platform/ids.ts'
import { zoneOf } from '../../platform/zone.ts'
import { type Credits, micro } from '../../units/credits.ts'
import type * as contract from '../contract/contract.ts'
import { creditsOf, timeOf, timeOrNull } from './amounts.ts'
import { perMillion } from './orders/packs.ts'
import type { Table } from './routes.ts'
import { zoneToday } from './usage/period.ts'
import { latestRequests } from './usage/requests.ts'

export type HomeOptions = {
  readonly clock: Clock
  readonly ledger: Pick<Ledger, 'balance' | 'firstChargeAt' | 'usage'>
  readonly payments: Pick<Payments, 'orders' | 'hasPurchased'>
  readonly keys: Pick<Keys, 'find'>
  readonly guards: Pick<Guards, 'lowness'>
}

/** Two weeks show a rhythm and fit a phone's screen. */
const DAYS = 14
/** Weekends belong to anybody's pace. */
const PACE_DAYS = 7
const DAY_MS = 86_400_000
/** For who has no line of their own: a tenth of the last pack is an evening's work, for most. */
const LOW_PART = 10n
/** Moments of first requests that are remembered: 100 bytes each. */
const FIRSTS_MAX = 10_000
/** The last purchase is among the newest orders, unless somebody's card failed all day. */
const ORDERS_PAGE = 50
const ORDERS_PAGES_MAX = 10

export function createHome(options: HomeOptions) {
  const { clock, ledger, payments, keys, guards } = options
  const firsts = new Map<BookId, Date>()

  async function firstAt(book: BookId, requests: bigint): Promise<Date | undefined> {
    if (requests === 0n) return undefined
    const known = firsts.get(book) ?? (await ledger.firstChargeAt(book))
    if (firsts.size >= FIRSTS_MAX) firsts.clear()
    if (known !== undefined) firsts.set(book, known)
    return known
  }

  async function lastPurchase(book: BookId): Promise<OrderView | undefined> {
    let before: OrderView['id'] | null = null
    for (let pages = 0; pages < ORDERS_PAGES_MAX; pages += 1) {
      const page: OrderView[] = await payments.orders({ book, before, limit: ORDERS_PAGE })
      const found = page.find(({ creditedAt }) => creditedAt !== null)
      if (found !== undefined || page.length < ORDERS_PAGE) return found
      before = page.at(-1)?.id ?? null
    }
    return undefined
  }

  /** Everything of the first page. `zone` says whose days are counted. */
  async function read(book: BookId, zone: string): Promise<contract.Home> {
    const [balance, bought, current, latest, own] = await Promise.all([
      ledger.balance(book),
      lastPurchase(book),
      keys.find(book),
      latestRequests(ledger.usage, book),
      guards.lowness(book),
    ])
    assert(balance, `the account's book ${book} is not there`)
    const { available, held, debt, requests } = balance
    const { zone: counted } = await zoneToday(ledger.usage, zone)
    const days = await ledger.usage.days({ book, zone: counted, days: DAYS })
    const first = await firstAt(book, requests)
    const pace = paceOf(days, available, first, clock.nowMs())
    return {
      at: timeOf(dateAt(clock.nowMs())),
      balance: {
        available: creditsOf(available),
        held: creditsOf(held),
        debt: creditsOf(debt),
      },
      worth: bought === undefined ? null : worthOf(available, bought),
      pace,
      days: days.map((one) => ({
        day: one.day,
        requests: String(one.requests),
        credits: creditsOf(one.spent),
      })),
      zone: counted,
      ...lowness(available, bought, own),
      blocked: balance.blockedReason,
      nextStep: nextStep({
        hasKey: current.active !== undefined,
        hasPurchased: bought !== undefined || (await payments.hasPurchased(book)),
        hasRequested: requests > 0n,
      }),
      requests: {
        total: String(requests),
        firstAt: timeOrNull(first),
        lastAt: timeOrNull(latest.find(({ kind }) => kind === 'charge')?.at),
      },
    }
  }

  const routes: Table<'GET /api/home'> = {
    'GET /api/home': {
      session: 'needed',
      query: z.object({ zone: z.string().optional() }),
      run: ({ session, query }) => read(session.book, zoneOf(query.zone)),
    },
  }
  return { routes, read }
}

export type Home = ReturnType<typeof createHome>

/** What the credits cost at the price of the pack bought last, down to a kopeck. */
function worthOf(available: Credits, { pack, priceKopecks }: OrderView): contract.Home['worth'] {
  return {
    kopecks: String((available * priceKopecks) / pack.credits),
    packName: pack.title,
    kopecksPerMillion: String(perMillion(priceKopecks, pack.credits)),
  }
}

function paceOf(
  days: readonly UsedDay[],
  available: Credits,
  first: Date | undefined,
  nowMs: number,
): contract.Home['pace'] {
  const age = first === undefined ? 1 : Math.floor((nowMs - first.getTime()) / DAY_MS) + 1
  const overDays = Math.min(PACE_DAYS, Math.max(1, age))
  const spent = days.slice(-PACE_DAYS).reduce((sum, day) => sum + day.spent, 0n)
  return {
    overDays,
    creditsPerDay: creditsOf(micro(spent / BigInt(overDays))),
    daysLeft: spent === 0n ? null : Number((available * BigInt(overDays)) / spent),
  }
}

/** The owner's own lines, by which letters are written; without any, a part of the last pack. */
function lowness(
  available: Credits,
  bought: OrderView | undefined,
  own: Awaited<ReturnType<Guards['lowness']>>,
): Pick<contract.Home, 'isLow' | 'lowBy' | 'lowBelow' | 'lowDays'> {
  const { lowBy, lowCredits, lowDays } = own
  const tenth = bought === undefined ? null : micro(bought.pack.credits / LOW_PART)
  const below = lowCredits ?? tenth
  const lines = { lowBelow: below === null ? null : creditsOf(below), lowDays }
  if (lowCredits !== null || lowDays !== null) return { isLow: lowBy !== null, lowBy, ...lines }
  const isLow = tenth !== null && available < tenth
  return { isLow, lowBy: isLow ? 'pack' : null, ...lines }
}

function nextStep(done: {
  readonly hasKey: boolean
  readonly hasPurchased: boolean
  readonly hasRequested: boolean
}): contract.NextStep {
  if (!done.hasKey) return done.hasPurchased ? 'key' : 'buy'
  return done.hasRequested ? 'done' : 'request'
}
