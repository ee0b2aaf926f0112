// How much an operator may move on a day, by role: credits granted or corrected, roubles refunded.
// The sum is counted in the transaction that moves them, so that two at once cannot pass together.
import type { Db, Tx } from '../../platform/db/db.ts'
import { credits, groupDigits, micro, wholeCredits } from '../../units/credits.ts'
import { kopecks, rublesText } from '../../units/kopecks.ts'
import type { Role } from '../permissions.ts'
import { operatorRefusal } from '../refusals.ts'
import * as queries from './queries.ts'

export type DayAmount = { readonly kind: queries.DayKind; readonly amount: bigint }

/** In whole credits and roubles. A viewer moves nothing. */
export type LimitSettings = {
  readonly supportCreditsPerDay: number
  readonly supportRoublesPerDay: number
  readonly financeCreditsPerDay: number
  readonly financeRoublesPerDay: number
  readonly adminCreditsPerDay: number
  readonly adminRoublesPerDay: number
}

const KOPECKS_PER_ROUBLE = 100n

export function createLimits(db: Db, settings: LimitSettings) {
  const of = (whole: number, roubles: number) => ({
    credits: credits(whole) as bigint,
    kopecks: BigInt(roubles) * KOPECKS_PER_ROUBLE,
  })
  const limits: Readonly<Record<Role, Readonly<Record<queries.DayKind, bigint>>>> = {
    viewer: of(0, 0),
    support: of(settings.supportCreditsPerDay, settings.supportRoublesPerDay),
    finance: of(settings.financeCreditsPerDay, settings.financeRoublesPerDay),
    admin: of(settings.adminCreditsPerDay, settings.adminRoublesPerDay),
  }

  return {
    /** Returns the day that it counts towards. Refuses: day_limit_exceeded. */
    async count(
      tx: Tx,
      who: { readonly operator: string; readonly role: Role },
      { kind, amount }: DayAmount,
    ): Promise<string | undefined> {
      if (amount === 0n) return undefined
      const { operator, role } = who
      const max = limits[role][kind]
      const day = await queries.dayAdd(tx, { operator, kind, amount, max })
      if (day !== undefined) return day
      const left = max - (await queries.dayTotal(tx, { operator, kind }))
      throw operatorRefusal(
        'day_limit_exceeded',
        `The role ${role} may move ${textOf(kind, max)} a day; ${textOf(kind, left)} are left.`,
      )
    },

    /** What did not move after all, to the day that it was counted towards. */
    giveBack: (operator: string, day: string, { kind, amount }: DayAmount): Promise<void> =>
      queries.daySubtract(db, { operator, day, kind, amount }),
  }
}

function textOf(kind: queries.DayKind, amount: bigint): string {
  return kind === 'credits'
    ? `${groupDigits(wholeCredits(micro(amount)))} credits`
    : `${rublesText(kopecks(amount))} RUB`
}
