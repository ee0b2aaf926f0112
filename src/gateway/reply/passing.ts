// All that passing a reply on needs: the reply, the client, how to meter it and how to settle it.
// Steps 5, 6 and 7 make the parts; step 8 puts them to work.
import type { PaidEnding, Settled, VoidAsk } from '../../ledger/ledger.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Credits } from '../../units/credits.ts'
import type { TokenCounts } from '../../units/tokens.ts'
import type { Upstreams } from '../../upstreams/upstreams.ts'
import type { ReplyMeter } from '../../wire/response.ts'
import type { StreamMeter } from '../../wire/sse.ts'
import type { Exchange, Reserved } from '../exchange.ts'
import type { Pulse } from './pulse.ts'
import type { Reply } from './reply.ts'

/** A client that takes nothing for this long is gone, whatever its socket says. */
export const UNREAD_MS_MAX = 60_000

/** What a reply consumed and what that costs. */
export type Metered = {
  readonly counts: TokenCounts
  readonly priced: Credits
  /** True when the upstream's own counters did not arrive. */
  readonly isEstimated: boolean
  readonly messageId: string | null
}

/** Reads what a reply consumes while its bytes pass. One of `stream` and `plain` is in use. */
export type Meter = {
  readonly stream: StreamMeter
  readonly plain: ReplyMeter
  /** A stream whose end has arrived. */
  completeStream(): Metered
  /** A plain reply of so many bytes whose end has arrived. */
  completePlain(bytes: number): Metered
  /** A stream that the client left. */
  leftStream(): Metered
}

export type Settlement = {
  /** True once an ending has decided. */
  readonly isDecided: boolean
  /**
   * Charges; resolves when the charge is durable. The second call and later ones do nothing. A
   * client whose connection we closed has not got its reply, and is not charged.
   */
  charge(ending: PaidEnding, metered: Metered): Promise<Settled | undefined>
  /** Gives everything back. The same latch. */
  free(ending: VoidAsk['ending'], reason: string): void
  /** Gives everything back because we closed the connection: `exchange.isStopped`. */
  stop(): void
}

export type Passing = {
  readonly exchange: Exchange
  readonly reserved: Reserved
  readonly reply: Reply
  readonly meter: Meter
  readonly settlement: Settlement
  readonly upstreams: Upstreams
  readonly pulse: Pulse
  readonly clock: Clock
  readonly requestSecondsMax: number
}
