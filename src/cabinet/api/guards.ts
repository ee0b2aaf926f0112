// Limits, pauses and e-mail thresholds that an owner sets. A stricter limit needs any session, a
// looser one a recent proof of the password. The ledger enforces limits; the guards module sends
// the e-mails.
import { z } from 'zod'
import type { Accounts } from '../../accounts/accounts.ts'
import type { Guards } from '../../guards/guards.ts'
import { type Clock, dateAt } from '../../platform/clock.ts'
import type { BookId } from '../../platform/ids.ts'
import { type Credits, credits } from '../../units/credits.ts'
import type * as contract from '../contract/guards.ts'
import { creditsOf, timeOf } from './amounts.ts'
import type { RouteTable } from './routes.ts'

export type GuardOptions = {
  readonly clock: Clock
  readonly guards: Guards
  readonly accounts: Pick<Accounts, 'requireProofs'>
}

/** Enough to try limits out; each change may send an e-mail. */
const SET_ALLOWANCE = { max: 60, seconds: 3_600 }
const PAUSE_ALLOWANCE = { max: 60, seconds: 600 }
const DAY_MS = 86_400_000

/** 1 to 999,999,999,999. Not 0: to spend nothing, an owner pauses requests. */
const whole = z.string().regex(/^[1-9]\d{0,11}$/)

export function guardRoutes({
  clock,
  guards,
  accounts,
}: GuardOptions): RouteTable<
  | 'GET /api/guards'
  | 'POST /api/guards/limits'
  | 'POST /api/guards/letters'
  | 'POST /api/guards/suspend'
  | 'POST /api/guards/resume'
> {
  async function answer(book: BookId): Promise<contract.Guards> {
    const { dayLimit, daySpent, velocity, blocked, lowCredits, lowDays } = await guards.read(book)
    const dayEndsMs = (Math.floor(clock.nowMs() / DAY_MS) + 1) * DAY_MS
    return {
      dayLimit: creditsOrNull(dayLimit),
      daySpent: creditsOf(daySpent),
      dayEndsAt: timeOf(dateAt(dayEndsMs)),
      velocity: velocity && { limit: creditsOf(velocity.limit), minutes: velocity.minutes },
      blocked,
      lowCredits: creditsOrNull(lowCredits),
      lowDays,
    }
  }

  return {
    'GET /api/guards': { session: 'required', run: ({ session }) => answer(session.book) },

    'POST /api/guards/limits': {
      session: 'required',
      allowance: SET_ALLOWANCE,
      body: z.object({
        dayLimit: whole.nullable(),
        velocity: z
          .object({ limit: whole, minutes: z.number().int().min(1).max(1_440) })
          .nullable(),
      }),
      async run({ session, body, address }) {
        const { dayLimit, velocity } = body
        const limits = {
          dayLimit: wholeOrNull(dayLimit),
          velocity: velocity && { ...velocity, limit: credits(BigInt(velocity.limit)) },
        }
        await guards.setLimits(session.book, limits, {
          ...{ atMs: clock.nowMs(), address },
          allowLooser: () => void accounts.requireProofs(session, 'limits.loosen'),
        })
        return answer(session.book)
      },
    },

    'POST /api/guards/letters': {
      session: 'required',
      allowance: SET_ALLOWANCE,
      body: z.object({
        lowCredits: whole.nullable(),
        lowDays: z.number().int().min(1).max(90).nullable(),
      }),
      async run({ session, body }) {
        const { lowDays } = body
        const lowCredits = wholeOrNull(body.lowCredits)
        await guards.setThresholds(session.book, { lowCredits, lowDays })
        return answer(session.book)
      },
    },

    'POST /api/guards/suspend': {
      session: 'required',
      allowance: PAUSE_ALLOWANCE,
      body: z.object({}),
      async run({ session }) {
        await guards.suspend(session.book)
        return answer(session.book)
      },
    },

    // Needs no proof: an owner whose requests are stopped in the middle of work should not have to
    // enter a password. The limit stays; loosening it requires one.
    'POST /api/guards/resume': {
      session: 'open',
      allowance: PAUSE_ALLOWANCE,
      body: z.object({}),
      async run({ session }) {
        await guards.resume(session.book)
        return answer(session.book)
      },
    },
  }
}

function creditsOrNull(amount: Credits | null) {
  return amount === null ? null : creditsOf(amount)
}

function wholeOrNull(text: string | null): Credits | null {
  return text === null ? null : credits(BigInt(text))
}
