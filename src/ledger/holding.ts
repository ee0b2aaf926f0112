// Holds: credits are set aside, and the transaction committed, before a request goes upstream. A
// hold that the database has not answered within `holdWaitMs` is given up.
import { Fault } from '../platform/assert.ts'
import type { Clock } from '../platform/clock.ts'
import type { InstanceId } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import type { Credits } from '../units/credits.ts'
import { groupDigits, MICRO, roundedUp, wholeCredits } from '../units/credits.ts'
import type { Batcher } from './batch/batch.ts'
import type { HoldInput, VoidInput } from './calls.ts'
import { holdVerb } from './calls.ts'
import { BOOK_UNKNOWN, type HoldRefusalCode, holdRefusal, stopSentences } from './refusals.ts'

export const OVERLOADED = 'The service is overloaded; try again shortly.'

export function createHolding(options: {
  readonly batcher: Batcher
  /** False after a settle could not be written to disk, until a write succeeds. */
  readonly isSpoolWritable: () => boolean
  readonly instance: InstanceId
  readonly clock: Clock
  readonly log: Log
  readonly holdSeconds: number
  readonly holdWaitMs: number
  /** Voids a hold that the database may or may not have stored. */
  readonly undo: (input: VoidInput) => Promise<unknown>
}) {
  const { batcher, isSpoolWritable, clock, log, undo } = options
  const hold_ = holdVerb(options.instance, options.holdSeconds)

  /**
   * Sets credits aside: the worst case, or as much of it as the book can afford, but at least the
   * floor. Refuses with the reason; repeatable by id. After `holdWaitMs` the hold is given up and
   * voided.
   */
  async function hold(input: HoldInput): Promise<{ granted: Credits }> {
    if (!isSpoolWritable()) {
      throw holdRefusal('ledger_unavailable', 'The service cannot take requests right now.', {
        why: 'the spool is not writable',
      })
    }
    const { outcome, granted, available } = await batcher.submit(hold_, input).result
    if (outcome !== 'granted') throw refusalOf(outcome, input, available as Credits)
    return { granted: granted as Credits }
  }

  // Refuses requests whose hold has waited too long, and voids the hold if it was sent at all.
  function giveUp(): void {
    const now = clock.spanMs()
    for (const operation of batcher.pending()) {
      if (operation.verb !== hold_ || now - operation.sinceMs < options.holdWaitMs) continue
      if (operation.isDropped) continue
      operation.isDropped = true
      operation.reject(
        holdRefusal('ledger_unavailable', OVERLOADED, {
          waitedMs: Math.round(now - operation.sinceMs),
        }),
      )
      if (!operation.wasSent) continue
      const { id, book, tariff } = operation.input as HoldInput
      undo({
        id,
        book,
        tariff,
        ending: 'refused',
        reason: 'waited too long for the database',
      }).catch((error: unknown) =>
        log.error({ err: error, hold: id }, 'a given-up hold was not voided'),
      )
    }
  }

  return { hold, giveUp }
}

function refusalOf(outcome: string, input: HoldInput, headroom: Credits): Error {
  const detail = { book: input.book, needed: input.floor, headroom, hold: input.id }
  const refuse = (code: HoldRefusalCode, sentence: string) => holdRefusal(code, sentence, detail)
  const needed = groupDigits(wholeCredits(roundedUp(input.floor)))
  const left = groupDigits(wholeCredits(headroom))
  switch (outcome) {
    // Do not write that a credit balance is too low: a widely used coding agent replaces every
    // sentence with these words by its own, and its user never sees where to buy credits.
    case 'credits':
      return refuse(
        'credits_insufficient',
        `Not enough credits: this request needs ${needed}, and ${left} are available.`,
      )
    case 'day_limit':
      return refuse(
        'day_limit_reached',
        headroom < MICRO
          ? 'Your daily credit limit is used up.'
          : `Your daily credit limit: this request could cost ${needed}; ` +
              `${left} are left until midnight UTC.`,
      )
    case 'velocity_stopped':
    case 'owner_suspended':
    case 'operator_blocked':
      return refuse(outcome, stopSentences[outcome])
    case 'debt':
      return refuse('debt_outstanding', stopSentences.debt_outstanding)
    case 'fence':
      return refuse('key_revoked', 'This API key has been revoked.')
    case 'book_unknown':
      return refuse('book_unknown', BOOK_UNKNOWN)
    default:
      return new Fault(`hold ${input.id} of book ${input.book} answered ${outcome}`)
  }
}
