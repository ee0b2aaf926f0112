// What the code that forwards a reply needs: the reply, the client, the meter and the settlement.
// Steps 5, 6 and 7 make them; step 8 uses them.
import type { ChargeParts, Settled, VoidInput } from '../../ledger/ledger.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Credits } from '../../units/credits.ts'
import type { TokenCounts } from '../../units/tokens.ts'
import type { Upstreams } from '../../upstreams/upstreams.ts'
import type { ReplyMeter } from '../../wire/response.ts'
import type { StreamMeter } from '../../wire/sse.ts'
import type { Exchange, Reserved } from '../exchange.ts'
import type { UpstreamReply } from './reply.ts'
import type { Ticker } from './ticker.ts'

/**
 * How long the gateway waits, after the client of a stream left before it began, for message_start,
 * because it reports the input, which is charged.
 */
export const LEFT_EARLY_WAIT_MS = 10_000

/** The tokens that a reply consumed, and their price. */
export type Metered = {
  readonly counts: TokenCounts
  readonly priced: Credits
  /** The name of the price list by which the counts were charged. */
  readonly list: string
  readonly parts: ChargeParts | null
  /** True when the upstream's own counters did not arrive. */
  readonly isEstimated: boolean
  readonly messageId: string | null
  readonly stopReason: string | undefined
  readonly serviceTier: string | undefined
}

/**
 * Counts what a reply consumes while its bytes are forwarded. Only one of `stream` and `plain` is
 * used.
 */
export type Meter = {
  readonly stream: StreamMeter
  readonly plain: ReplyMeter
  /** A stream whose end has arrived. */
  ofCompleteStream(): Metered
  /** A plain reply of `bytes` bytes whose end has arrived. */
  ofCompletePlain(bytes: number): Metered
  /** A stream whose client left before its end. */
  ofAbandonedStream(): Metered
  /** A plain reply that broke off because of its client; the request had `requestBytes`. */
  ofAbandonedPlain(bytes: number, requestBytes: number): Metered
  /** A reply that failed: what it had reported by then; undefined without any counters. */
  ofFailedReply(): Metered | undefined
}

export type Settlement = {
  /** True once the first ending has charged or voided. */
  readonly isDecided: boolean
  /**
   * Charges, with the ending that says whether the client got the reply, left or read too slowly.
   * Resolves when the charge is durable. Does nothing when `isDecided`. Voids instead when the
   * gateway itself ended the request, because the client did not get its reply.
   */
  charge(metered: Metered): Promise<Settled | undefined>
  /** Ends the hold without a charge. Does nothing when `isDecided`. */
  void(ending: VoidInput['ending'], reason: string): void
}

export type ReplyContext = {
  readonly exchange: Exchange
  readonly reserved: Reserved
  readonly reply: UpstreamReply
  readonly meter: Meter
  readonly settlement: Settlement
  readonly upstreams: Upstreams
  readonly ticker: Ticker
  readonly clock: Clock
  readonly requestSecondsMax: number
}
