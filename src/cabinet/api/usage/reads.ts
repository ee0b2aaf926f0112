// Reads of the usage, the request log and the statement wait in turn, as they do in the gateway
// (gateway/admission.ts): accounts share a part of the database connections of this process, so
// that one owner's reads leave the rest to signing in, paying and the pages of other owners.
import type { Clock } from '../../../platform/clock.ts'
import type { BookId } from '../../../platform/ids.ts'
import { createShares } from '../../../platform/shares.ts'
import { createSlots, createWaitingPlaces } from '../../../platform/slots.ts'
import { CabinetRefusal } from '../../refusals.ts'

/** Half of the pool's connections, 8 by default; as many as in the gateway. */
const READS_MAX = 4
/**
 * The usage page sends six reads at once, so these are the pages of 170 owners. A read takes 100 ms
 * at most: the last of 1,024 would wait for 25 s, as long as a failover.
 */
const WAITING_MAX = 1_024

export function createUsageReads({ spanMs }: Pick<Clock, 'spanMs'>, waitingMax = WAITING_MAX) {
  const shares = createShares({ capacity: READS_MAX, least: 1, spanMs })
  const slots = createSlots(shares, createWaitingPlaces(spanMs, waitingMax))

  return {
    /** Reads when the turn of the account has come. Refuses: overloaded. */
    async inTurn<T>(book: BookId, read: () => Promise<T>): Promise<T> {
      const turn = Promise.withResolvers<void>()
      const holder: { onShed: (() => void) | undefined } = {
        onShed: () => turn.reject(overloaded()),
      }
      const slot = slots.take(book, holder, () => {
        // A statement that runs in PostgreSQL keeps its connection: do not shed it.
        holder.onShed = undefined
        turn.resolve()
      })
      if (slot === undefined) throw overloaded()
      try {
        await turn.promise
        return await read()
      } finally {
        slot.close()
      }
    },
  }
}

export type UsageReads = ReturnType<typeof createUsageReads>

function overloaded(): CabinetRefusal {
  return new CabinetRefusal('overloaded', 'Too many reads of usage at once.')
}
