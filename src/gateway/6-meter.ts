// Step 6: counts what the reply consumed, from its bytes as they are forwarded, without parsing
// every event. Computes the charge for each way a reply can end, at the prices in force when the
// request began.
import {
  type Model,
  type PricedPart,
  type PricedReply,
  priceReply,
  type Snapshot,
} from '../pricing/pricing.ts'
import type { ChargeParts } from '../units/charge.ts'
import { noTokens, type TokenCounts, type Tokens, tokens } from '../units/tokens.ts'
import { estimateOutput, type ReplyFacts } from '../wire/events.ts'
import { createReplyMeter } from '../wire/response.ts'
import { createStreamMeter } from '../wire/sse.ts'
import { fallbackPass, hiddenPasses, tokenCounts, type Usage } from '../wire/usage.ts'
import type { Meter, Metered } from './reply/context.ts'

/** The model that was asked for, and those that may have run besides, by their upstream names. */
export type Prices = {
  readonly model: Model
  readonly catalogue: Pick<Snapshot, 'modelByUpstreamName'>
}

export function meter(prices: Prices): Meter {
  return new ReplyPrice(prices)
}

// A class, because creating an object with getters for each request took 4 µs.
class ReplyPrice implements Meter {
  private readonly prices: Prices
  private streamMeter: ReturnType<typeof createStreamMeter> | undefined
  private plainMeter: ReturnType<typeof createReplyMeter> | undefined

  constructor(prices: Prices) {
    this.prices = prices
  }

  get stream(): ReturnType<typeof createStreamMeter> {
    this.streamMeter ??= createStreamMeter()
    return this.streamMeter
  }

  get plain(): ReturnType<typeof createReplyMeter> {
    this.plainMeter ??= createReplyMeter()
    return this.plainMeter
  }

  ofCompleteStream(): Metered {
    const { facts, hasUnreadRecord } = this.stream
    const metered = complete(facts, this.prices, () => this.stream.estimatedOutput())
    if (!hasUnreadRecord || facts.stopReason !== undefined) return metered
    // The record with the final counters was too long to read: a client can cause that with a long
    // stop sequence, which the vendor repeats there. All that was read is message_start, whose
    // output counter is only 1, so the output is estimated.
    const estimated = this.stream.estimatedOutput()
    const output = estimated > metered.counts.output ? estimated : metered.counts.output
    return priced({ ...metered.counts, output }, this.prices, true, facts)
  }

  ofCompletePlain(bytes: number): Metered {
    return complete(this.plain.facts, this.prices, () => estimateOutput(bytes, 0))
  }

  // The published rule: counts as the end of the reply reports them if that has arrived. Else the
  // input as message_start reports it, with the passes after results of server tools, and the
  // output estimated from the bytes that were generated.
  ofAbandonedStream(): Metered {
    const { facts } = this.stream
    if (facts.stopReason !== undefined) return this.ofCompleteStream()
    const counts = tokenCounts(this.stream.abandonedUsage()) ?? noTokens
    return priced(counts, this.prices, true, facts)
  }

  // Its counters stand at its end: both counts are estimated from the bytes.
  ofAbandonedPlain(bytes: number, requestBytes: number): Metered {
    const { facts } = this.plain
    if (facts.usage !== undefined) return this.ofCompletePlain(bytes)
    const input = estimateOutput(requestBytes, 0)
    const counts = { ...noTokens, input, output: estimateOutput(bytes, 0) }
    return priced(counts, this.prices, true, facts)
  }

  ofFailedReply(): Metered | undefined {
    if (this.streamMeter?.facts.usage !== undefined) return this.ofAbandonedStream()
    const facts = this.plainMeter?.facts
    return facts?.usage && complete(facts, this.prices, () => noTokens.output)
  }
}

// A counter that the upstream reported as zero stays zero; only a missing one is estimated.
function complete(facts: ReplyFacts, prices: Prices, estimate: () => Tokens): Metered {
  const usage = facts.usage ?? {}
  const reported = tokenCounts(usage)
  const counts = reported ?? {
    ...noTokens,
    ...tokenCounts({ inputTokens: 0, ...usage, outputTokens: 0 }),
    output: usage.outputTokens === undefined ? estimate() : tokens(usage.outputTokens),
  }
  return priced(counts, prices, reported === undefined, facts)
}

function priced(
  counts: TokenCounts,
  { model, catalogue }: Prices,
  isEstimated: boolean,
  facts: ReplyFacts,
): Metered {
  const usage = facts.usage ?? {}
  const modelOf = (name: string | undefined) =>
    name === undefined ? model : catalogue.modelByUpstreamName.get(name)
  const fallback = fallbackPass(usage)
  const answering = (fallback && modelOf(fallback.model)) ?? model
  const priceOf = (own: TokenCounts) =>
    priceReply(answering, {
      counts: own,
      values: {
        speed: usage.speed,
        inference_geo: usage.inferenceGeo,
        service_tier: usage.serviceTier,
      },
      // The uses are reported at the end; without it, the results that were sent count.
      uses: isEstimated ? { ...facts.results, ...usage.uses } : (usage.uses ?? {}),
      hidden: hiddenPasses(usage).map((pass) => ({
        model: modelOf(pass.model),
        counts: countsOf(pass.usage),
      })),
    })
  let reply = priceOf(counts)
  const unlisted = [...reply.unlisted, ...(usage.unknown ?? [])]
  if (fallback !== undefined && modelOf(fallback.model) === undefined) {
    unlisted.push('iterations.model')
  }
  const summed = fallback === undefined ? sumOfPasses(usage) : undefined
  if (summed !== undefined) {
    if (!isSame(summed, counts)) unlisted.push('iterations')
    // Passes that add up may still cost more: only they say how later cache writes are split.
    const other = priceOf(summed)
    if (other.priced > reply.priced) reply = other
  }
  return {
    counts: reply.main.counts,
    priced: reply.priced,
    list: reply.main.list.name,
    parts: partsOf(reply, answering !== model, unlisted),
    isEstimated,
    messageId: facts.messageId ?? null,
    stopReason: facts.stopReason,
    serviceTier: usage.serviceTier,
  }
}

/** A missing counter of a pass counts as zero: the reply's own counters were reported. */
function countsOf(usage: Usage): TokenCounts {
  return tokenCounts({ inputTokens: 0, outputTokens: 0, ...usage }) ?? noTokens
}

/** The counters of the reply should be the sum of these passes; undefined when none is reported. */
function sumOfPasses({ passes = [] }: Usage): TokenCounts | undefined {
  const own = passes.filter(({ kind }) => kind === 'message').map(({ usage }) => countsOf(usage))
  if (own.length === 0) return undefined
  const sum = (count: keyof TokenCounts) =>
    tokens(own.reduce((total, pass) => total + pass[count], 0n))
  return {
    input: sum('input'),
    output: sum('output'),
    cacheRead: sum('cacheRead'),
    cacheWrite5m: sum('cacheWrite5m'),
    cacheWrite1h: sum('cacheWrite1h'),
  }
}

// How cache writes are split is reported at the start of a stream, and not for every pass.
function isSame(a: TokenCounts, b: TokenCounts): boolean {
  return (
    a.input === b.input &&
    a.output === b.output &&
    a.cacheRead === b.cacheRead &&
    a.cacheWrite5m + a.cacheWrite1h === b.cacheWrite5m + b.cacheWrite1h
  )
}

/** Null for an ordinary reply, which its counts and its tariff explain. */
function partsOf(
  { main, hidden, uses }: PricedReply,
  isFallback: boolean,
  unlisted: readonly string[],
): ChargeParts | null {
  const parts: ChargeParts = {
    ...(isFallback ? { served: partPrice(main) } : {}),
    ...(hidden.length === 0
      ? {}
      : { passes: hidden.map((pass) => ({ ...partPrice(pass), counts: pass.counts })) }),
    ...(uses.length === 0 ? {} : { uses }),
    ...(unlisted.length === 0 ? {} : { unlisted: [...new Set(unlisted)] }),
  }
  return Object.keys(parts).length === 0 ? null : parts
}

function partPrice({ model, list }: PricedPart) {
  return { model, list: list.name, price: list.price }
}
