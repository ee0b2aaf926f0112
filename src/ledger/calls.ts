// The three hot verbs as statements: how hold, settle and void are sent, alone and as arrays, and
// how their answers are read.
import type { BookId, HoldId } from '../platform/ids.ts'
import { dayOfHold } from '../platform/ids.ts'
import type { Credits } from '../units/credits.ts'
import type { TokenCounts } from '../units/tokens.ts'
import { int4Array, int8Array, textArray, uuidArray, wordArray } from './arrays.ts'
import type { Statement } from './connection.ts'

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
  readOne(row: Record<string, unknown>): Reply
  many(asks: readonly Ask[], isWaiting: boolean): Statement
  readMany(row: Record<string, unknown>, asks: readonly Ask[]): Reply[]
}

export function holdVerb(instance: bigint, holdSeconds: number): Verb<HoldAsk, HoldReply> {
  return {
    name: 'hold',
    one: (a) => ({
      name: 'hold',
      text: 'select * from ledger_hold(false, $1, $2, $3, $4, $5, $6, $7, $8, $9)',
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
    readOne: (row) => row as HoldReply,
    many: (asks, isWaiting) => ({
      name: 'hold_many',
      text: 'select * from ledger_hold_many($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)',
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
    readMany(row, asks) {
      // No amounts: each was granted its worst case.
      if (row.granted === null) {
        return asks.map((a) => ({ outcome: 'granted', granted: a.worst, available: a.worst }))
      }
      const granted = parts(row.granted)
      const available = parts(row.available)
      return outcomes(row, asks.length).map((outcome, i) => ({
        outcome,
        granted: BigInt(granted[i] ?? 0),
        available: BigInt(available[i] ?? 0),
      }))
    },
  }
}

export const settleVerb: Verb<SettleAsk, SettleReply> = {
  name: 'settle',
  one: (a) => ({
    name: 'settle',
    text: 'select * from ledger_settle(false, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)',
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
  readOne: (row) => row as SettleReply,
  many: (asks, isWaiting) => ({
    name: 'settle_many',
    text: `select * from ledger_settle_many($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12,
      $13)`,
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
  readMany(row, asks) {
    const lesser = new Map<number, bigint>()
    for (const part of parts(row.amounts)) {
      const [place, amount] = part.split(':') as [string, string]
      lesser.set(Number(place) - 1, BigInt(amount))
    }
    const left = new Map<string, bigint>()
    const available = parts(row.available)
    for (const [i, book] of parts(row.books).entries()) left.set(book, BigInt(available[i] ?? 0))
    return outcomes(row, asks.length).map((outcome, i) => {
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
      text: 'select * from ledger_void(false, $1, $2, $3, $4, $5, $6, $7)',
      values: [instance, dayOfHold(a.id), a.id, a.book, a.tariff, a.ending, a.reason],
    }),
    readOne: (row) => row as VoidReply,
    many: (asks, isWaiting) => ({
      name: 'void_many',
      text: 'select * from ledger_void_many($1, $2, $3, $4, $5, $6, $7, $8) as outcomes',
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
    readMany: (row, asks) => outcomes(row, asks.length).map((outcome) => ({ outcome })),
  }
}

function parts(text: unknown): string[] {
  return typeof text === 'string' ? text.split(',') : []
}

/** One word may stand for all. */
function outcomes(row: Record<string, unknown>, count: number): string[] {
  const words = parts(row.outcomes)
  return words.length === 1 && count > 1 ? new Array(count).fill(words[0]) : words
}
