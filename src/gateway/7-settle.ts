// Step 7: usage and ending become one charge, or none. Whichever ending comes first decides, once;
// the hold is closed exactly once, also when the client is gone and nobody waits for the answer.
import { Fault } from '../platform/assert.ts'
import type { Exchange, Reserved } from './exchange.ts'
import type { Settlement } from './passing.ts'
import type { Rooms } from './rooms.ts'

export function settle(
  exchange: Exchange,
  reserved: Reserved,
  model: string,
  { ledger, log, metrics }: Pick<Rooms, 'ledger' | 'log' | 'metrics'>,
): Settlement {
  const state = { isDecided: false }
  const { id, requestId } = exchange
  const { book, tariff, granted } = reserved

  return {
    isDecided: () => state.isDecided,

    async charge(ending, metered) {
      if (state.isDecided) return undefined
      state.isDecided = true
      metrics.ended(ending)
      metrics.used(model, 'input', Number(metered.counts.input))
      metrics.used(model, 'output', Number(metered.counts.output))
      const { priced } = metered
      if (priced > granted) {
        // Above the bound: the upstream counts what cannot be there. The customer pays the hold.
        log.error({ request: requestId, priced, granted }, 'usage beyond the bound')
      }
      return ledger.settle({ id, book, ending, ...metered }).catch((error: unknown) => {
        // The ledger has logged what it refused; whoever waits must not end the reply as paid.
        throw new Fault(`the charge of ${requestId} was refused`, { cause: error })
      })
    },

    free(ending, reason) {
      if (state.isDecided) return
      state.isDecided = true
      metrics.ended(ending)
      // Nobody waits for it: a reply that failed is answered at once, and the batcher repeats the
      // void until it commits.
      ledger.void({ id, book, tariff, ending, reason }).catch((error: unknown) => {
        log.error({ request: requestId, err: error }, 'a hold was not voided')
      })
    },
  }
}
