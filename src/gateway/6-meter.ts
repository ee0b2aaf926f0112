// Step 6: what did the reply consume? Read from the bytes as they pass, never by parsing each
// event. Says what to charge for each way a reply can end, at the prices the request began with.
import { charge } from '../pricing/pricing.ts'
import { CREDITS_MAX } from '../units/credits.ts'
import { ONE, type Price } from '../units/price.ts'
import { noTokens, type TokenCounts, type Tokens, tokens } from '../units/tokens.ts'
import { estimateOutput, type ReplyFacts } from '../wire/events.ts'
import { createReplyMeter } from '../wire/response.ts'
import { createStreamMeter } from '../wire/sse.ts'
import { tokenCounts } from '../wire/usage.ts'
import type { Meter, Metered } from './reply/passing.ts'

export function meter(price: Price): Meter {
  return new ReplyPrice(price)
}

// A class: an object with getters, made anew for each request, took 4 us.
class ReplyPrice implements Meter {
  private readonly price: Price
  private streamMeter: ReturnType<typeof createStreamMeter> | undefined
  private plainMeter: ReturnType<typeof createReplyMeter> | undefined

  constructor(price: Price) {
    this.price = price
  }

  get stream(): ReturnType<typeof createStreamMeter> {
    this.streamMeter ??= createStreamMeter()
    return this.streamMeter
  }

  get plain(): ReturnType<typeof createReplyMeter> {
    this.plainMeter ??= createReplyMeter()
    return this.plainMeter
  }

  completeStream(): Metered {
    const { facts, hasUnreadRecord } = this.stream
    const metered = complete(facts, this.price, () => this.stream.estimatedOutput())
    if (!hasUnreadRecord || facts.stopReason !== undefined) return metered
    // The record with the final counters was not read: a client can make it too long with a stop
    // sequence, which the vendor repeats there. The counter of message_start says 1.
    const estimated = this.stream.estimatedOutput()
    const output = estimated > metered.counts.output ? estimated : metered.counts.output
    return priced({ ...metered.counts, output }, this.price, true, metered.messageId)
  }

  completePlain(bytes: number): Metered {
    return complete(this.plain.facts, this.price, () => estimateOutput(bytes, 0))
  }

  // Input as the reply's start says; output as its end says, if that came, else by the bytes of
  // what was generated: the published rule.
  leftStream(): Metered {
    const { facts } = this.stream
    if (facts.stopReason !== undefined) return this.completeStream()
    const counts = {
      ...noTokens,
      ...tokenCounts({ inputTokens: 0, ...facts.usage, outputTokens: 0 }),
      output: this.stream.estimatedOutput(),
    }
    return priced(counts, this.price, true, facts.messageId ?? null)
  }
}

// Explicit zeros stay zeros; only what was never said is estimated.
function complete(facts: ReplyFacts, price: Price, estimate: () => Tokens): Metered {
  const usage = facts.usage ?? {}
  const reported = tokenCounts(usage)
  const counts = reported ?? {
    ...noTokens,
    ...tokenCounts({ inputTokens: 0, ...usage, outputTokens: 0 }),
    output: usage.outputTokens === undefined ? estimate() : tokens(usage.outputTokens),
  }
  return priced(counts, price, reported === undefined, facts.messageId ?? null)
}

// Each of the five counts may cost a fifth of what a balance can hold. An upstream that reports
// more is wrong, and the hold caps what the customer pays; but the ledger and its audit must be
// able to compute with the number.
const COST_MAX = CREDITS_MAX / 5n

function priced(
  reported: TokenCounts,
  price: Price,
  isEstimated: boolean,
  messageId: string | null,
): Metered {
  const least = (count: Tokens, each: bigint) =>
    each > 0n && count > COST_MAX / each ? tokens(COST_MAX / each) : count
  const counts = {
    input: least(reported.input, ONE),
    output: least(reported.output, price.coefficient),
    cacheRead: least(reported.cacheRead, price.cacheRead),
    cacheWrite5m: least(reported.cacheWrite5m, price.cacheWrite5m),
    cacheWrite1h: least(reported.cacheWrite1h, price.cacheWrite1h),
  }
  return { counts, priced: charge(price, counts), isEstimated, messageId }
}
