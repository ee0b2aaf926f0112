// Limits, pauses and letters about the balance, as an owner sets them. Stricter is always welcome;
// looser wants a fresh session. What a limit does is the ledger's affair, letters the guards'.
import { z } from 'zod'
import type { Accounts } from '../../accounts/accounts.ts'
import type { Guards } from '../../guards/guards.ts'
import { type Clock, dateAt } from '../../platform/clock.ts'
import type { BookId } from '../../platform/ids.ts'
import { type Credits, credits } from '../../units/credits.ts'
import type * as contract from '../contract/guards.ts'
import { creditsOf, timeOf } from './amounts.ts'
import type { Table } from './routes.ts'

export type GuardOptions = {
  readonly clock: Clock
  readonly guards: Guards
  readonly accounts: Pick<Accounts, 'requireFresh'>
}

/** Somebody who tries out what a limit does; each may be a letter. */
const SETTING = { max: 60, seconds: 3_600 }
const PAUSING = { max: 60, seconds: 600 }
const DAY_MS = 86_400_000

/** At least one: nothing at all is what a pause is for. Twelve digits fit a balance. */
const whole = z.string().regex(/^[1-9]\d{0,11}$/)

export function guardRoutes({
  clock,
  guards,
  accounts,
}: GuardOptions): Table<
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
    'GET /api/guards': { session: 'needed', run: ({ session }) => answer(session.book) },

    'POST /api/guards/limits': {
      session: 'needed',
      allowance: SETTING,
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
          allowLooser: () => void accounts.requireFresh(session),
        })
        return answer(session.book)
      },
    },

    'POST /api/guards/letters': {
      session: 'needed',
      allowance: SETTING,
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
      session: 'needed',
      allowance: PAUSING,
      body: z.object({}),
      async run({ session }) {
        await guards.suspend(session.book)
        return answer(session.book)
      },
    },

    // One click, also hours after signing in: who is stopped in the middle of work must not look
    // for a phone with codes first. The limit stays, and wants a fresh session to be loosened.
    'POST /api/guards/resume': {
      session: 'needed',
      allowance: PAUSING,
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
