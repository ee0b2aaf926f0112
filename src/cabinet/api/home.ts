// The overview: the balance, its worth, how long it lasts, and the owner's next step. Each
// request reads every number from the ledger and the orders; only the time of the owner's first API
// request, which never changes, is cached.
import { z } from 'zod'
import type { Guards, Warnings } from '../../guards/guards.ts'
import type { Keys } from '../../keys/keys.ts'
import type { Ledger, UsageDay } from '../../ledger/ledger.ts'
import type { OrderView, Payments } from '../../payments/payments.ts'
import { assert } from '../../platform/assert.ts'
import { type Clock, dateAt } from '../../platform/clock.ts'
import type { BookId } from '../../platform/ids.ts'
import { zoneOf } from '../../platform/zone.ts'
import { type Credits, micro, roundedUp } from '../../units/credits.ts'
import type * as contract from '../contract/contract.ts'
import { creditsOf, timeOf, timeOrNull } from './amounts.ts'
import { perMillion } from './orders/packs.ts'
import type { RouteTable } from './routes.ts'
import { zoneToday } from './usage/period.ts'
import { latestRequests } from './usage/requests.ts'

export type HomeOptions = {
  readonly clock: Clock
  readonly ledger: Pick<Ledger, 'balance' | 'firstChargeAt' | 'usage'>
  readonly payments: Pick<Payments, 'orders' | 'hasPurchased'>
  readonly keys: Pick<Keys, 'find'>
  readonly guards: Pick<Guards, 'warnings'>
}

/** Two weeks show a weekly pattern and fit a phone's screen. */
const DAYS = 14
/** A whole week, so that weekends are included. */
const PACE_DAYS = 7
const DAY_MS = 86_400_000
/** Without a threshold of the owner, low is below a tenth of the last pack: an evening's work. */
const LOW_PART = 10n
/** Cached times of first requests: 100 bytes each. */
const FIRST_REQUESTS_MAX = 10_000
/** The last purchase is among the newest orders, unless many payments failed since. */
const ORDERS_PAGE = 50
const ORDERS_PAGES_MAX = 10

export function createHomeRoutes(options: HomeOptions) {
  const { clock, ledger, payments, keys, guards } = options
  const firstRequests = new Map<BookId, Date>()

  async function firstRequestAt(book: BookId, requests: bigint): Promise<Date | undefined> {
    if (requests === 0n) return undefined
    const known = firstRequests.get(book) ?? (await ledger.firstChargeAt(book))
    if (firstRequests.size >= FIRST_REQUESTS_MAX) firstRequests.clear()
    if (known !== undefined) firstRequests.set(book, known)
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

  /** Everything on the overview. `zone` is the time zone of its days. */
  async function read(book: BookId, zone: string): Promise<contract.Home> {
    const [balance, bought, current, latest, own] = await Promise.all([
      ledger.balance(book),
      lastPurchase(book),
      keys.find(book),
      latestRequests(ledger.usage, book),
      guards.warnings(book),
    ])
    assert(balance, `the account's book ${book} is not there`)
    const { available, held, debt, requests } = balance
    const { zone: counted } = await zoneToday(ledger.usage, zone)
    const days = await ledger.usage.days({ book, zone: counted, days: DAYS })
    const first = await firstRequestAt(book, requests)
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
      ...lowBalanceOf(available, bought, own),
      beyondDayLimit: own.beyondDayLimit && {
        dayLimit: creditsOf(own.beyondDayLimit.dayLimit),
        needed: creditsOf(roundedUp(own.beyondDayLimit.needed)),
        left: creditsOf(own.beyondDayLimit.left),
      },
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

  const routes: RouteTable<'GET /api/home'> = {
    'GET /api/home': {
      session: 'required',
      query: z.object({ zone: z.string().optional() }),
      run: ({ session, query }) => read(session.book, zoneOf(query.zone)),
    },
  }
  return { routes, read }
}

export type HomeRoutes = ReturnType<typeof createHomeRoutes>

/** The price of the credits, by the pack bought last, rounded down to a kopeck. */
function worthOf(available: Credits, { pack, priceKopecks }: OrderView): contract.Home['worth'] {
  return {
    kopecks: String((available * priceKopecks) / pack.credits),
    packName: pack.title,
    kopecksPerMillion: String(perMillion(priceKopecks, pack.credits)),
  }
}

function paceOf(
  days: readonly UsageDay[],
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

/** The owner's thresholds, as in the e-mails; without any, a tenth of the last pack. */
function lowBalanceOf(
  available: Credits,
  bought: OrderView | undefined,
  own: Warnings,
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
