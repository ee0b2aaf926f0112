// The three hot verbs as statements: how hold, settle and void are sent, alone and as arrays, and
// how their answers are read.

import type { Row, Statement } from '../platform/db/statement.ts'
import type { BookId, HoldId } from '../platform/ids.ts'
import { dayOfHold } from '../platform/ids.ts'
import type { Credits } from '../units/credits.ts'
import type { TokenCounts } from '../units/tokens.ts'
import { int4Array, int8Array, textArray, uuidArray, wordArray } from './arrays.ts'

export const endings = [
  'complete',
  'client_left',
  'refused',
  'upstream_failed',
  'process_lost',
  'given_up',
  'overdue',
] as const
export type Ending = (typeof endings)[number]

/** The endings that charge. */
export type PaidEnding = Extract<Ending, 'complete' | 'client_left'>
export type FreeEnding = Exclude<Ending, PaidEnding>

export type HoldAsk = {
  readonly id: HoldId
  readonly book: BookId
  readonly tariff: number
  /** The fence the caller's key was verified with. */
  readonly fence: bigint
  readonly worst: Credits
  readonly floor: Credits
}

export type SettleAsk = {
  readonly id: HoldId
  readonly book: BookId
  readonly counts: TokenCounts
  /** What the counts cost at the hold's tariff. */
  readonly priced: Credits
  readonly ending: PaidEnding
  readonly isEstimated: boolean
  /** The upstream's id of the reply, if one was seen. */
  readonly messageId: string | null
}

export type VoidAsk = {
  readonly id: HoldId
  readonly book: BookId
  readonly tariff: number
  readonly ending: FreeEnding
  readonly reason: string
}

export type HoldReply = { outcome: string; granted: bigint; available: bigint }
export type SettleReply = { outcome: string; amount: bigint; available: bigint }
export type VoidReply = { outcome: string }

/** How one verb travels. `busy` as an outcome means: its book was locked, ask again in a lane. */
export type Verb<Ask, Reply> = {
  readonly name: string
  one(ask: Ask): Statement
  readOne(row: Row): Reply
  many(asks: readonly Ask[], isWaiting: boolean): Statement
  readMany(row: Row, asks: readonly Ask[]): Reply[]
}

export function holdVerb(instance: bigint, holdSeconds: number): Verb<HoldAsk, HoldReply> {
  return {
    name: 'hold',
    one: (a) => ({
      name: 'hold',
      text: `select outcome, granted, available
        from ledger_hold(false, $1, $2, $3, $4, $5, $6, $7, $8, $9)`,
      values: [
        instance,
        holdSeconds,
        dayOfHold(a.id),
        a.id,
        a.book,
        a.tariff,
        a.fence,
        a.worst,
        a.floor,
      ],
    }),
    readOne: ([outcome, granted, available]) => ({
      outcome: outcome as string,
      granted: amountOf(granted),
      available: amountOf(available),
    }),
    many: (asks, isWaiting) => ({
      name: 'hold_many',
      text: `select outcomes, granted, available
        from ledger_hold_many($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
      values: [
        isWaiting,
        instance,
        holdSeconds,
        int4Array(asks, (a) => dayOfHold(a.id)),
        uuidArray(asks, (a) => a.id),
        int8Array(asks, (a) => a.book),
        int4Array(asks, (a) => a.tariff),
        int8Array(asks, (a) => a.fence),
        int8Array(asks, (a) => a.worst),
        int8Array(asks, (a) => a.floor),
      ],
    }),
    readMany([words, granted, available], asks) {
      // No amounts: each was granted its worst case.
      if (granted === null) {
        return asks.map((a) => ({ outcome: 'granted', granted: a.worst, available: a.worst }))
      }
      const grants = parts(granted)
      const left = parts(available)
      return outcomes(words, asks.length).map((outcome, i) => ({
        outcome,
        granted: amountOf(grants[i]),
        available: amountOf(left[i]),
      }))
    },
  }
}

export const settleVerb: Verb<SettleAsk, SettleReply> = {
  name: 'settle',
  one: (a) => ({
    name: 'settle',
    text: `select outcome, amount, available
      from ledger_settle(false, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    values: [
      dayOfHold(a.id),
      a.id,
      a.book,
      a.counts.input,
      a.counts.output,
      a.counts.cacheRead,
      a.counts.cacheWrite5m,
      a.counts.cacheWrite1h,
      a.priced,
      a.ending,
      a.isEstimated,
      a.messageId,
    ],
  }),
  readOne: ([outcome, amount, available]) => ({
    outcome: outcome as string,
    amount: amountOf(amount),
    available: amountOf(available),
  }),
  many: (asks, isWaiting) => ({
    name: 'settle_many',
    text: `select outcomes, amounts, books, available
      from ledger_settle_many($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
    values: [
      isWaiting,
      int4Array(asks, (a) => dayOfHold(a.id)),
      uuidArray(asks, (a) => a.id),
      int8Array(asks, (a) => a.book),
      int8Array(asks, (a) => a.counts.input),
      int8Array(asks, (a) => a.counts.output),
      int8Array(asks, (a) => a.counts.cacheRead),
      int8Array(asks, (a) => a.counts.cacheWrite5m),
      int8Array(asks, (a) => a.counts.cacheWrite1h),
      int8Array(asks, (a) => a.priced),
      wordArray(asks, (a) => a.ending),
      wordArray(asks, (a) => (a.isEstimated ? 't' : 'f')),
      textArray(asks, (a) => a.messageId),
    ],
  }),
  readMany([words, amounts, books, available], asks) {
    const lesser = new Map<number, bigint>()
    for (const part of parts(amounts)) {
      const [place, amount] = part.split(':') as [string, string]
      lesser.set(Number(place) - 1, BigInt(amount))
    }
    const left = new Map<string, bigint>()
    const leftEach = parts(available)
    for (const [i, book] of parts(books).entries()) left.set(book, amountOf(leftEach[i]))
    return outcomes(words, asks.length).map((outcome, i) => {
      const ask = asks[i] as SettleAsk
      return {
        outcome,
        amount: outcome === 'settled' ? (lesser.get(i) ?? ask.priced) : 0n,
        available: left.get(String(ask.book)) ?? 0n,
      }
    })
  },
}

export function voidVerb(instance: bigint): Verb<VoidAsk, VoidReply> {
  return {
    name: 'void',
    one: (a) => ({
      name: 'void',
      text: 'select outcome from ledger_void(false, $1, $2, $3, $4, $5, $6, $7)',
      values: [instance, dayOfHold(a.id), a.id, a.book, a.tariff, a.ending, a.reason],
    }),
    readOne: ([outcome]) => ({ outcome: outcome as string }),
    many: (asks, isWaiting) => ({
      name: 'void_many',
      text: 'select outcomes from ledger_void_many($1, $2, $3, $4, $5, $6, $7, $8) as outcomes',
      values: [
        isWaiting,
        instance,
        int4Array(asks, (a) => dayOfHold(a.id)),
        uuidArray(asks, (a) => a.id),
        int8Array(asks, (a) => a.book),
        int4Array(asks, (a) => a.tariff),
        wordArray(asks, (a) => a.ending),
        textArray(asks, (a) => a.reason),
      ],
    }),
    readMany: ([words], asks) => outcomes(words, asks.length).map((outcome) => ({ outcome })),
  }
}

type Column = string | null | undefined

/** Nothing is said of an amount where nothing was granted or charged. */
function amountOf(column: Column): bigint {
  return BigInt(column ?? 0)
}

function parts(column: Column): string[] {
  return typeof column === 'string' ? column.split(',') : []
}

/** One word may stand for all. */
function outcomes(column: Column, count: number): string[] {
  const words = parts(column)
  return words.length === 1 && count > 1 ? new Array(count).fill(words[0]) : words
}
