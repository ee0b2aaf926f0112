// Step 7: usage and ending become one charge, or none. Whichever ending comes first decides, once;
// the hold is closed exactly once, also when the client is gone and nobody waits for the answer.
import type { PaidEnding, Settled, VoidAsk } from '../ledger/ledger.ts'
import type { Exchange, Reserved } from './exchange.ts'
import type { Metered, Settlement } from './reply/passing.ts'
import type { Rooms } from './rooms.ts'

type Needs = Pick<Rooms, 'ledger' | 'log' | 'metrics'>

export function settle(
  exchange: Exchange,
  reserved: Reserved,
  model: string,
  rooms: Needs,
): Settlement {
  return new Latch(exchange, reserved, model, rooms)
}

class Latch implements Settlement {
  isDecided = false
  private readonly exchange: Exchange
  private readonly reserved: Reserved
  private readonly model: string
  private readonly rooms: Needs

  constructor(exchange: Exchange, reserved: Reserved, model: string, rooms: Needs) {
    this.exchange = exchange
    this.reserved = reserved
    this.model = model
    this.rooms = rooms
  }

  async charge(ending: PaidEnding, metered: Metered): Promise<Settled | undefined> {
    if (this.exchange.isStopped) this.stop()
    if (this.isDecided) return undefined
    this.isDecided = true
    const { ledger, log, metrics } = this.rooms
    const { id, requestId } = this.exchange
    const { book, granted } = this.reserved
    metrics.ended(ending)
    metrics.used(this.model, 'input', Number(metered.counts.input))
    metrics.used(this.model, 'output', Number(metered.counts.output))
    const { priced } = metered
    if (priced > granted) {
      // Above the bound: the upstream counts what cannot be there. The customer pays the hold.
      log.error({ request: requestId, priced, granted }, 'usage beyond the bound')
    }
    const { counts, isEstimated, messageId } = metered
    return ledger.settle({ id, book, ending, counts, priced, isEstimated, messageId })
  }

  stop(): void {
    this.free('process_lost', 'the gateway was stopped before the reply ended')
  }

  free(ending: VoidAsk['ending'], reason: string): void {
    if (this.isDecided) return
    this.isDecided = true
    const { ledger, log, metrics } = this.rooms
    const { id, requestId } = this.exchange
    const { book, tariff } = this.reserved
    metrics.ended(ending)
    // Nobody waits for it: a reply that failed is answered at once, and the batcher repeats the
    // void until it commits.
    ledger.void({ id, book, tariff, ending, reason }).catch((error: unknown) => {
      log.error({ request: requestId, err: error }, 'a hold was not voided')
    })
  }
}
