// The overview: the balance, its worth, how long it lasts, and the owner's next step. Each
// request reads every number from the ledger and the orders; only the time of the owner's first API
// request, which never changes, is cached.
import { z } from 'zod'
import type { Guards, Warnings } from '../../guards/guards.ts'
import type { Keys } from '../../keys/keys.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { Payments } from '../../payments/payments.ts'
import { assert } from '../../platform/assert.ts'
import { type Clock, dateAt } from '../../platform/clock.ts'
import type { BookId } from '../../platform/ids.ts'
import { zoneOf } from '../../platform/zone.ts'
import { type Credits, micro, roundedUp } from '../../units/credits.ts'
import { kopecksFor, kopecksPerMillion, type PackPrice } from '../../units/pack-price.ts'
import type * as contract from '../contract/contract.ts'
import { creditsOf, timeOf, timeOrNull } from './amounts.ts'
import type { RouteTable } from './routes.ts'
import { zoneToday } from './usage/period.ts'
import { latestRequests } from './usage/requests.ts'

export type HomeOptions = {
  readonly clock: Clock
  readonly ledger: Pick<Ledger, 'balance' | 'firstChargeAt' | 'usage'>
  readonly payments: Pick<Payments, 'lastPack' | 'trial'>
  readonly keys: Pick<Keys, 'find'>
  readonly guards: Pick<Guards, 'warnings'>
}

/** Two weeks show a weekly pattern and fit a phone's screen. */
const DAYS = 14
/** Without a threshold of the owner, low is below a tenth of the last pack: an evening's work. */
const LOW_PART = 10n
/** Cached times of first requests: 100 bytes each. */
const FIRST_REQUESTS_MAX = 10_000

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

  /** Everything on the overview. `zone` is the time zone of its days. */
  async function read(book: BookId, zone: string): Promise<contract.Home> {
    const [balance, bought, current, latest, own] = await Promise.all([
      ledger.balance(book),
      payments.lastPack(book),
      keys.find(book),
      latestRequests(ledger.usage, book),
      guards.warnings(book),
    ])
    assert(balance, `the account's book ${book} is not there`)
    const { available, held, debt, requests } = balance
    const { zone: counted } = await zoneToday(ledger.usage, zone)
    const days = await ledger.usage.days({ book, zone: counted, days: DAYS })
    const first = await firstRequestAt(book, requests)
    const trial = bought === undefined ? await payments.trial(book) : undefined
    return {
      at: timeOf(dateAt(clock.nowMs())),
      balance: {
        available: creditsOf(available),
        held: creditsOf(held),
        debt: creditsOf(debt),
      },
      worth: bought === undefined ? null : worthOf(available, bought),
      pace: {
        overDays: own.pace.overDays,
        creditsPerDay: creditsOf(own.pace.perDay),
        daysLeft: own.pace.daysLeft,
      },
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
        resetsAt: timeOf(dateAt(own.beyondDayLimit.resetsAtMs)),
      },
      trial: trial === undefined ? null : creditsOf(trial.credits),
      blocked: balance.blockedReason,
      nextStep: nextStep({
        hasKey: current.active !== undefined,
        mayHaveKey: bought !== undefined || trial !== undefined,
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

/** The price of the credits, by the pack bought last. */
function worthOf(available: Credits, pack: PackPrice): contract.Home['worth'] {
  return {
    kopecks: String(kopecksFor(available, pack)),
    pack: {
      credits: creditsOf(pack.credits),
      priceKopecks: String(pack.priceKopecks),
      kopecksPerMillion: String(kopecksPerMillion(pack)),
    },
  }
}

/** The owner's thresholds, as in the e-mails; without any, a tenth of the last pack. */
function lowBalanceOf(
  available: Credits,
  bought: PackPrice | undefined,
  own: Warnings,
): Pick<contract.Home, 'isLow' | 'lowBy' | 'lowBelow' | 'lowDays'> {
  const { lowBy, lowCredits, lowDays } = own
  const tenth = bought === undefined ? null : micro(bought.credits / LOW_PART)
  const below = lowCredits ?? tenth
  const lines = { lowBelow: below === null ? null : creditsOf(below), lowDays }
  if (lowCredits !== null || lowDays !== null) return { isLow: lowBy !== null, lowBy, ...lines }
  const isLow = tenth !== null && available < tenth
  return { isLow, lowBy: isLow ? 'pack' : null, ...lines }
}

function nextStep(done: {
  readonly hasKey: boolean
  readonly mayHaveKey: boolean
  readonly hasRequested: boolean
}): contract.NextStep {
  if (!done.hasKey) return done.mayHaveKey ? 'key' : 'buy'
  return done.hasRequested ? 'done' : 'request'
}
