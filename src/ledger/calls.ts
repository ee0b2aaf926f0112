// Hold, settle and void, the three operations of every request, as SQL statements: builds the
// parameters of one operation or of an array, and reads the result row.

import type { Row, Statement } from '../platform/db/statement.ts'
import type { BookId, HoldId } from '../platform/ids.ts'
import { dayOfHold } from '../platform/ids.ts'
import type { ChargeParts } from '../units/charge.ts'
import type { Credits } from '../units/credits.ts'
import type { FreeEnding, PaidEnding } from '../units/endings.ts'
import type { TokenCounts } from '../units/tokens.ts'
import { int4Array, int8Array, textArray, uuidArray, wordArray } from './arrays.ts'
import { numbersOf, type RequestDetails, textsOf } from './details.ts'
import { partsText } from './parts.ts'

export type HoldInput = {
  readonly id: HoldId
  readonly book: BookId
  readonly tariff: number
  /** The fence with which the caller's key was verified. */
  readonly fence: bigint
  readonly worst: Credits
  readonly floor: Credits
}

export type SettleInput = {
  readonly id: HoldId
  readonly book: BookId
  readonly counts: TokenCounts
  /** What the counts cost by the tariff, together with the parts. */
  readonly priced: Credits
  /** The price list by which the reply was charged; that of the hold when absent. */
  readonly tariff?: number
  /** What the counts and the tariff alone do not explain; null for an ordinary reply. */
  readonly parts?: ChargeParts | null
  readonly details?: RequestDetails
  readonly ending: PaidEnding
  readonly isEstimated: boolean
  /** The upstream's id of the reply, if one was seen. */
  readonly messageId: string | null
  /** The key that was used and the fence of its hold, for the charge log only. */
  readonly caller?: { readonly key: string | null; readonly fence: bigint }
}

export type VoidInput = {
  readonly id: HoldId
  readonly book: BookId
  readonly tariff: number
  readonly ending: FreeEnding
  readonly reason: string
  /** What the upstream had reported: `seen`. */
  readonly parts?: ChargeParts | null
  readonly details?: RequestDetails
}

export type HoldResult = { outcome: string; granted: bigint; available: bigint }
export type SettleResult = { outcome: string; amount: bigint; available: bigint }
export type VoidResult = { outcome: string }

/**
 * The statements of one verb. The outcome `busy` means that another transaction has locked the
 * book: the operation is sent again in a lane.
 */
export type Verb<Input, Result> = {
  readonly name: string
  statement(input: Input): Statement
  readResult(row: Row): Result
  arrayStatement(inputs: readonly Input[], isWaiting: boolean): Statement
  readResults(row: Row, inputs: readonly Input[]): Result[]
}

export function holdVerb(instance: bigint, holdSeconds: number): Verb<HoldInput, HoldResult> {
  return {
    name: 'hold',
    statement: (a) => ({
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
    readResult: ([outcome, granted, available]) => ({
      outcome: outcome as string,
      granted: amountOf(granted),
      available: amountOf(available),
    }),
    arrayStatement: (inputs, isWaiting) => ({
      name: 'hold_many',
      text: `select outcomes, granted, available
        from ledger_hold_many($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
      values: [
        isWaiting,
        instance,
        holdSeconds,
        int4Array(inputs, (a) => dayOfHold(a.id)),
        uuidArray(inputs, (a) => a.id),
        int8Array(inputs, (a) => a.book),
        int4Array(inputs, (a) => a.tariff),
        int8Array(inputs, (a) => a.fence),
        int8Array(inputs, (a) => a.worst),
        int8Array(inputs, (a) => a.floor),
      ],
    }),
    readResults([words, granted, available], inputs) {
      // The function returns no amounts when every hold was granted its worst case.
      if (granted === null) {
        return inputs.map((a) => ({ outcome: 'granted', granted: a.worst, available: a.worst }))
      }
      const grants = parts(granted)
      const left = parts(available)
      return outcomes(words, inputs.length).map((outcome, i) => ({
        outcome,
        granted: amountOf(grants[i]),
        available: amountOf(left[i]),
      }))
    },
  }
}

export const settleVerb: Verb<SettleInput, SettleResult> = {
  name: 'settle',
  statement: (a) => ({
    name: 'settle',
    text: `select outcome, amount, available
      from ledger_settle_request(false, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13,
        $14)`,
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
      numbersOf([a]),
      textsOf([a], partsTextOf),
    ],
  }),
  readResult: ([outcome, amount, available]) => ({
    outcome: outcome as string,
    amount: amountOf(amount),
    available: amountOf(available),
  }),
  arrayStatement: (inputs, isWaiting) => ({
    name: 'settle_many',
    text: `select outcomes, amounts, books, available
      from ledger_settle_requests($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14,
        $15)`,
    values: [
      isWaiting,
      int4Array(inputs, (a) => dayOfHold(a.id)),
      uuidArray(inputs, (a) => a.id),
      int8Array(inputs, (a) => a.book),
      int8Array(inputs, (a) => a.counts.input),
      int8Array(inputs, (a) => a.counts.output),
      int8Array(inputs, (a) => a.counts.cacheRead),
      int8Array(inputs, (a) => a.counts.cacheWrite5m),
      int8Array(inputs, (a) => a.counts.cacheWrite1h),
      int8Array(inputs, (a) => a.priced),
      wordArray(inputs, (a) => a.ending),
      wordArray(inputs, (a) => (a.isEstimated ? 't' : 'f')),
      textArray(inputs, (a) => a.messageId),
      numbersOf(inputs),
      textsOf(inputs, partsTextOf),
    ],
  }),
  readResults([words, amounts, books, available], inputs) {
    const reducedAmounts = new Map<number, bigint>()
    for (const part of parts(amounts)) {
      const [position, amount] = part.split(':') as [string, string]
      reducedAmounts.set(Number(position) - 1, BigInt(amount))
    }
    const left = new Map<string, bigint>()
    const leftEach = parts(available)
    for (const [i, book] of parts(books).entries()) left.set(book, amountOf(leftEach[i]))
    return outcomes(words, inputs.length).map((outcome, i) => {
      const input = inputs[i] as SettleInput
      return {
        outcome,
        amount: outcome === 'settled' ? (reducedAmounts.get(i) ?? input.priced) : 0n,
        available: left.get(String(input.book)) ?? 0n,
      }
    })
  },
}

export function voidVerb(instance: bigint): Verb<VoidInput, VoidResult> {
  return {
    name: 'void',
    statement: (a) => ({
      name: 'void',
      text: `select outcome
        from ledger_void_request(false, $1, $2, $3, $4, $5, $6, $7, $8, $9)`,
      values: [
        ...[instance, dayOfHold(a.id), a.id, a.book, a.tariff, a.ending, a.reason],
        ...[numbersOf([a]), textsOf([a], partsTextOf)],
      ],
    }),
    readResult: ([outcome]) => ({ outcome: outcome as string }),
    arrayStatement: (inputs, isWaiting) => ({
      name: 'void_many',
      text: `select outcomes
        from ledger_void_requests($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) as outcomes`,
      values: [
        isWaiting,
        instance,
        int4Array(inputs, (a) => dayOfHold(a.id)),
        uuidArray(inputs, (a) => a.id),
        int8Array(inputs, (a) => a.book),
        int4Array(inputs, (a) => a.tariff),
        wordArray(inputs, (a) => a.ending),
        textArray(inputs, (a) => a.reason),
        numbersOf(inputs),
        textsOf(inputs, partsTextOf),
      ],
    }),
    readResults: ([words], inputs) =>
      outcomes(words, inputs.length).map((outcome) => ({ outcome })),
  }
}

function partsTextOf({ parts }: Pick<SettleInput, 'parts'>): string | undefined {
  return partsText(parts)
}

type Column = string | null | undefined

/** The column is null where nothing was granted or charged. */
function amountOf(column: Column): bigint {
  return BigInt(column ?? 0)
}

function parts(column: Column): string[] {
  return typeof column === 'string' ? column.split(',') : []
}

/** The function returns a single word when all operations have the same outcome. */
function outcomes(column: Column, count: number): string[] {
  const words = parts(column)
  return words.length === 1 && count > 1 ? new Array(count).fill(words[0]) : words
}
