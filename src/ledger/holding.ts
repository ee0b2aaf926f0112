// Holding: credits are set aside, and committed, before a request goes upstream. A hold is given up
// when the database does not answer for too long.
import { Fault } from '../platform/assert.ts'
import type { Clock } from '../platform/clock.ts'
import type { InstanceId } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import type { RefusalCode } from '../platform/refusal.ts'
import { Refusal } from '../platform/refusal.ts'
import type { Credits } from '../units/credits.ts'
import { creditsText } from '../units/credits.ts'
import type { Batcher } from './batch/batch.ts'
import type { HoldAsk, VoidAsk } from './calls.ts'
import { holdVerb } from './calls.ts'

export const OVERLOADED = 'The service is overloaded; try again shortly.'

export function createHolding(options: {
  readonly batcher: Batcher
  /** False while a settle could not be kept on disk. */
  readonly isSpoolWritable: () => boolean
  readonly instance: InstanceId
  readonly clock: Clock
  readonly log: Log
  readonly holdSeconds: number
  readonly holdWaitMs: number
  /** Voids a hold that the database may or may not know. */
  readonly undo: (ask: VoidAsk) => Promise<unknown>
}) {
  const { batcher, isSpoolWritable, clock, log, undo } = options
  const hold_ = holdVerb(options.instance, options.holdSeconds)

  /**
   * Sets credits aside: the worst case, or what the book can afford of it down to the floor.
   * Refuses with the reason; repeatable by id. After the wait it gives up and undoes itself.
   */
  async function hold(ask: HoldAsk): Promise<{ granted: Credits }> {
    if (!isSpoolWritable()) {
      throw new Refusal('ledger_unavailable', 'The service cannot take requests right now.', {
        why: 'the spool is not writable',
      })
    }
    const { outcome, granted, available } = await batcher.submit(hold_, ask).reply
    if (outcome !== 'granted') throw holdRefusal(outcome, ask, available as Credits)
    return { granted: granted as Credits }
  }

  // A request that waited too long is refused, and its hold undone if the database may know it.
  function giveUp(): void {
    const now = clock.spanMs()
    for (const operation of batcher.pending()) {
      if (operation.verb !== hold_ || now - operation.sinceMs < options.holdWaitMs) continue
      if (operation.isDropped) continue
      operation.isDropped = true
      operation.reject(
        new Refusal('ledger_unavailable', OVERLOADED, {
          waitedMs: Math.round(now - operation.sinceMs),
        }),
      )
      if (!operation.wasSent) continue
      const { id, book, tariff } = operation.ask as HoldAsk
      undo({ id, book, tariff, ending: 'given_up', reason: 'waited too long' }).catch(
        (error: unknown) => log.error({ err: error, hold: id }, 'a given-up hold was not voided'),
      )
    }
  }

  return { hold, giveUp }
}

function holdRefusal(outcome: string, ask: HoldAsk, headroom: Credits): Error {
  const detail = { book: ask.book, needed: ask.floor, headroom, hold: ask.id }
  const refuse = (code: RefusalCode, sentence: string) => new Refusal(code, sentence, detail)
  switch (outcome) {
    case 'credits':
      return refuse(
        'credits_insufficient',
        `Your credit balance is too low: this request needs ${creditsText(ask.floor)} credits ` +
          `and ${creditsText(headroom)} are available.`,
      )
    case 'day_limit':
      return refuse('day_limit_reached', 'Your daily credit limit is reached.')
    case 'velocity_stopped':
      return refuse('velocity_stopped', 'Spending is stopped: it was faster than your limit.')
    case 'owner_suspended':
      return refuse('owner_suspended', 'Spending is suspended by the owner of this account.')
    case 'operator_blocked':
      return refuse('operator_blocked', 'This account is blocked.')
    case 'debt':
      return refuse('debt_outstanding', 'Your credit balance is too low: the account is in debt.')
    case 'fence':
      return refuse('key_revoked', 'This API key has been revoked.')
    case 'book_unknown':
      return refuse('book_unknown', 'There is no such account.')
    default:
      return new Fault(`hold ${ask.id} of book ${ask.book} answered ${outcome}`)
  }
}
