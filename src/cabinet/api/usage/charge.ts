// What a charge is made of: the tokens of the response by its price list, each pass that the counts
// of the response do not include, and the uses of tools. They add up to the price exactly.
import type { Entry } from '../../../ledger/ledger.ts'
import { assert } from '../../../platform/assert.ts'
import { tokenKinds } from '../../../units/charge.ts'
import { micro } from '../../../units/credits.ts'
import { costOf, millionthsText, type Price } from '../../../units/price.ts'
import { type TokenCounts, tokens } from '../../../units/tokens.ts'
import type * as contract from '../../contract/usage.ts'
import { creditsOf } from '../amounts.ts'
import { listNamed, priceDimensions } from '../prices.ts'

type Charge = Pick<
  contract.LogDetails,
  'list' | 'answeredBy' | 'parts' | 'passes' | 'uses' | 'unlisted'
>

/** A request that was not charged. */
export const noCharge: Charge = {
  ...{ list: null, answeredBy: null, parts: [], passes: [], uses: [], unlisted: [] },
}

export function chargeOf(entry: Entry): Charge {
  const { list, price, parts } = recordedOf(entry)
  const own = linesOf(parts.served?.price ?? price, countsOf(entry))
  const passes = (parts.passes ?? []).map((pass) => ({
    model: pass.model,
    list: listNamed(pass.list),
    lines: linesOf(pass.price, pass.counts),
  }))
  const uses = (parts.uses ?? []).map(({ feature, count, each }) => ({
    ...{ feature, count, each, cost: BigInt(count) * each },
  }))
  // Fail rather than show sums that do not add up; the audit would report such an entry too.
  const all = [...own, ...passes.flatMap(({ lines }) => lines), ...uses]
  const sum = all.reduce((total, { cost }) => total + cost, 0n)
  const { seq, priced } = entry
  assert(sum === priced, `charge ${seq} is priced ${priced}, its parts are ${sum}`)
  return {
    list: listNamed(parts.served?.list ?? list),
    answeredBy: parts.served?.model ?? null,
    parts: own.flatMap(shown),
    passes: passes.map(({ lines, ...pass }) => ({ ...pass, parts: lines.flatMap(shown) })),
    uses: uses.map(({ feature, count, each, cost }) => ({
      feature,
      count: String(count),
      each: creditsOf(each).exact,
      credits: creditsOf(micro(cost)),
    })),
    unlisted: priceDimensions.filter((dimension) => parts.unlisted?.includes(dimension)),
  }
}

/** The price list and the parts that the ledger recorded with a charge. */
export function recordedOf({ list, parts, price, seq }: Entry) {
  assert(price !== null, `charge ${seq} has no tariff`)
  return { list, parts: parts ?? {}, price }
}

function linesOf(price: Price, counts: TokenCounts) {
  return tokenKinds.map(([kind, priced]) => {
    const [count, each] = [counts[kind], price[priced]]
    return { kind, count, each, cost: costOf(count, each) }
  })
}

type Line = ReturnType<typeof linesOf>[number]

function countsOf(entry: Entry): TokenCounts {
  const { input, output, cacheRead, cacheWrite5m, cacheWrite1h } = entry
  return {
    input: tokens(input ?? 0n),
    output: tokens(output ?? 0n),
    cacheRead: tokens(cacheRead ?? 0n),
    cacheWrite5m: tokens(cacheWrite5m ?? 0n),
    cacheWrite1h: tokens(cacheWrite1h ?? 0n),
  }
}

/** Input and output always, cached tokens if there were some. */
function shown({ kind, count, each, cost }: Line): contract.PriceLine[] {
  if (count === 0n && kind !== 'input' && kind !== 'output') return []
  const [weight, credits] = [millionthsText(each), creditsOf(cost)]
  return [{ kind, tokens: String(count), weight, credits }]
}
