// What a charge is made of, line by line: the tokens of the reply by its price list, each pass that
// the counts of the reply do not include, and the uses of tools. The lines add up to the price
// exactly. The cabinet and the API show the same lines.
import { type ChargeParts, type PricedEntry, tokenKinds } from './charge.ts'
import { type Credits, micro } from './credits.ts'
import { costOf, type Millionths, type Price } from './price.ts'
import { type TokenCounts, type Tokens, tokens } from './tokens.ts'

/** What of an entry explains its price. */
export type ChargeEntry = PricedEntry & {
  readonly seq: bigint
  /** The name of the price list; empty for the one by default. */
  readonly list: string
  readonly priced: Credits | null
}

/** count × each = cost, exactly. */
export type ChargeLine = {
  readonly kind: keyof TokenCounts
  readonly count: Tokens
  readonly each: Millionths
  readonly cost: Credits
}

export type ChargeLines = {
  /** The name of the price list of `lines`; empty for the one by default. */
  readonly list: string
  /** The model that answered, if it is not the one that was asked for: `lines` has its prices. */
  readonly answeredBy: string | null
  /** Input and output always, cached tokens if there were some. */
  readonly lines: readonly ChargeLine[]
  readonly passes: readonly {
    readonly model: string
    readonly list: string
    readonly lines: readonly ChargeLine[]
  }[]
  readonly uses: readonly {
    readonly feature: string
    readonly count: number
    readonly each: Credits
    readonly cost: Credits
  }[]
  /** Values in the reply that the catalogue does not list, and members that are not known. */
  readonly unlisted: readonly string[]
}

/** Fails rather than return lines that do not add up; the audit would report such an entry too. */
export function chargeLines(entry: ChargeEntry): ChargeLines {
  const { list, price, parts } = recordedOf(entry)
  const own = linesOf(parts.served?.price ?? price, countsOf(entry))
  const passes = (parts.passes ?? []).map((pass) => ({
    ...{ model: pass.model, list: pass.list, lines: linesOf(pass.price, pass.counts) },
  }))
  const uses = (parts.uses ?? []).map(({ feature, count, each }) => ({
    ...{ feature, count, each, cost: micro(BigInt(count) * each) },
  }))
  const all = [...own, ...passes.flatMap(({ lines }) => lines), ...uses]
  const sum = all.reduce((total, { cost }) => total + cost, 0n)
  const { seq, priced } = entry
  if (sum !== priced) throw new Error(`charge ${seq} is priced ${priced}, its parts are ${sum}`)
  return {
    list: parts.served?.list ?? list,
    answeredBy: parts.served?.model ?? null,
    lines: own,
    passes,
    uses,
    unlisted: parts.unlisted ?? [],
  }
}

/** The price list and the parts that the ledger recorded with a charge. */
export function recordedOf({ list, parts, price, seq }: ChargeEntry): {
  readonly list: string
  readonly parts: ChargeParts
  readonly price: Price
} {
  if (price === null) throw new Error(`charge ${seq} has no tariff`)
  return { list, parts: parts ?? {}, price }
}

function linesOf(price: Price, counts: TokenCounts): ChargeLine[] {
  return tokenKinds.flatMap(([kind, priced]) => {
    const [count, each] = [counts[kind], price[priced]]
    const isShown = count > 0n || kind === 'input' || kind === 'output'
    return isShown ? [{ kind, count, each, cost: costOf(count, each) }] : []
  })
}

function countsOf(entry: ChargeEntry): TokenCounts {
  const { input, output, cacheRead, cacheWrite5m, cacheWrite1h } = entry
  return {
    input: tokens(input ?? 0n),
    output: tokens(output ?? 0n),
    cacheRead: tokens(cacheRead ?? 0n),
    cacheWrite5m: tokens(cacheWrite5m ?? 0n),
    cacheWrite1h: tokens(cacheWrite1h ?? 0n),
  }
}
