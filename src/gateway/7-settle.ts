// Step 7: settles the hold with the charge, or voids it. The first ending decides and later ones do
// nothing, so the hold is closed exactly once, also when the client has left.
import type { ChargeParts, PaidEnding, Settled, VoidInput } from '../ledger/ledger.ts'
import { ourCause } from './ending.ts'
import type { Exchange, Reserved } from './exchange.ts'
import { detailsOf, wordOf } from './journal.ts'
import type { Modules } from './modules.ts'
import type { Meter, Metered, Settlement } from './reply/context.ts'

type Needs = Pick<Modules, 'ledger' | 'log' | 'metrics' | 'clock'>

export function settle(
  exchange: Exchange,
  reserved: Reserved,
  model: string,
  meter: Pick<Meter, 'ofFailedReply'>,
  modules: Needs,
): Settlement {
  return new SettleOnce(exchange, reserved, model, meter, modules)
}

class SettleOnce implements Settlement {
  private readonly exchange: Exchange
  private readonly reserved: Reserved
  private readonly model: string
  private readonly meter: Pick<Meter, 'ofFailedReply'>
  private readonly modules: Needs

  constructor(
    exchange: Exchange,
    reserved: Reserved,
    model: string,
    meter: Pick<Meter, 'ofFailedReply'>,
    modules: Needs,
  ) {
    this.exchange = exchange
    this.reserved = reserved
    this.model = model
    this.meter = meter
    this.modules = modules
  }

  get isDecided(): boolean {
    return this.exchange.ending !== undefined
  }

  async charge(metered: Metered): Promise<Settled | undefined> {
    const ours = ourCause(this.exchange)
    if (ours !== undefined) this.void(ours.ending, ours.reason)
    if (this.isDecided) return undefined
    const ending = paidEnding(this.exchange)
    this.exchange.ending = ending
    const { ledger, log, metrics, clock } = this.modules
    const { id, requestId } = this.exchange
    const { book, fence, granted, tariffs } = this.reserved
    this.note(metered)
    metrics.countEnding(ending)
    metrics.observeTokens(this.model, 'input', Number(metered.counts.input))
    metrics.observeTokens(this.model, 'output', Number(metered.counts.output))
    const { priced } = metered
    if (priced > granted) {
      // By bytes, the hold covers the most that the request as sent can cost: the upstream counted
      // wrongly. By a count (input-count.ts) it may cost a little more. The customer pays at most
      // the hold.
      metrics.countBeyondHold()
      log.error({ request: requestId, priced, granted }, 'usage beyond the bound')
    }
    const { counts, parts, isEstimated, messageId } = metered
    for (const name of parts?.unlisted ?? []) metrics.countUnlistedUsage(this.model, name)
    const tariff = tariffs.get(metered.list) ?? this.reserved.tariff
    const charge = { tariff, parts, details: detailsOf(this.exchange, clock.spanMs(), metered) }
    const settled = await ledger.settle({
      ...{ id, book, ending, counts, priced, isEstimated, messageId },
      ...charge,
      caller: { key: this.exchange.journal.keyId ?? null, fence },
    })
    this.exchange.journal.settledMs = clock.spanMs()
    return settled
  }

  void(ending: VoidInput['ending'], reason: string): void {
    if (this.isDecided) return
    this.exchange.ending = ending
    const { ledger, log, metrics, clock } = this.modules
    const { id, requestId } = this.exchange
    const { book, tariff } = this.reserved
    const seen = this.meter.ofFailedReply()
    this.note(seen)
    metrics.countEnding(ending)
    // Not awaited: the client gets its error at once, and the batcher repeats the void until it
    // commits.
    const details = detailsOf(this.exchange, clock.spanMs(), {})
    const parts = seen === undefined ? null : this.partsOf(seen)
    ledger.void({ id, book, tariff, ending, reason, parts, details }).catch((error: unknown) => {
      log.error({ request: requestId, err: error }, 'a hold was not voided')
    })
  }

  /** For the request's line in the log. */
  private note(metered: Metered | undefined): void {
    const { journal, clock } = this.exchange
    journal.endedMs = clock.spanMs()
    journal.counts = metered?.counts
    journal.isEstimated = metered?.isEstimated
    journal.messageId = wordOf(metered?.messageId)
  }

  /** The vendor may bill a reply that failed: its void keeps the counts for that comparison. */
  private partsOf({ counts, list, parts }: Metered): ChargeParts {
    return { seen: { model: parts?.served?.model ?? this.model, list, counts } }
  }
}

function paidEnding({ endedBy }: Exchange): PaidEnding {
  return endedBy === 'client_left' || endedBy === 'client_slow' ? endedBy : 'complete'
}
