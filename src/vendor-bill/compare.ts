// Compares what the vendor bills for a day with what our entries of that day count, line by line: a
// model, the values that multiply its prices, and what is counted. Exact; nothing is read or
// stored here. docs/decisions/0035 says which requests cannot tie, and why.
import type { CountCertainty, DayCounts } from '../ledger/ledger.ts'
import type { BilledThing, Catalogue, DimensionValues } from '../pricing/pricing.ts'
import { upstreamName } from '../pricing/pricing.ts'
import { type Credits, micro } from '../units/credits.ts'
import type { TokenCounts } from '../units/tokens.ts'
import type { BilledRow } from './report.ts'

/**
 * `ties`: not one token differs. `open`: it differs, and requests whose counts we do not know can
 * explain it. `differs`: nothing that we know explains it.
 */
export type Verdict = 'ties' | 'open' | 'differs'

export type TieLine = {
  /** The vendor's name of the model. */
  readonly model: string
  /** The values that multiply the price, such as `speed=fast`; empty for none. */
  readonly rate: string
  /** `input`, `cache read`, `web_search use`. */
  readonly dimension: string
  readonly billed: bigint
  /** What the vendor reported to us with complete replies. */
  readonly counted: bigint
  /** What was estimated, or reported by replies that failed. */
  readonly open: bigint
  /** Billed, less counted, less open. */
  readonly difference: bigint
  readonly verdict: Verdict
  /** The counts by price list, for what they cost. */
  readonly parts: readonly { readonly thing: BilledThing; readonly amount: bigint }[]
}

/** Requests whose counts we do not know exactly. */
export type OpenRequests = {
  readonly model: string
  readonly ending: string
  readonly certainty: Exclude<CountCertainty, 'reported'>
  readonly requests: number
}

export type DayComparison = {
  readonly day: string
  readonly lines: readonly TieLine[]
  readonly open: readonly OpenRequests[]
  /** Uses that we count and the report does not. */
  readonly notInReport: readonly { readonly model: string; readonly dimension: string }[]
  /** Credits charged for the requests of a model. */
  readonly sold: ReadonlyMap<string, Credits>
  readonly writtenOff: Credits
}

export type Lists = {
  listOf(name: string): { readonly above: bigint; readonly values: DimensionValues }
  rateOf(values: DimensionValues): string
}

const kinds = [
  ['input', 'input'],
  ['cacheRead', 'cache read'],
  ['cacheWrite5m', 'cache write 5m'],
  ['cacheWrite1h', 'cache write 1h'],
  ['output', 'output'],
] as const satisfies readonly (readonly [keyof TokenCounts, string])[]
const inputWords: ReadonlySet<string> = new Set(
  kinds.flatMap(([kind, word]) => (kind === 'output' ? [] : [word])),
)
const tokenWords: ReadonlySet<string> = new Set(kinds.map(([, word]) => word))

type Sums = {
  billed: bigint
  counted: bigint
  open: bigint
  readonly parts: { thing: BilledThing; amount: bigint }[]
}

export function compareDay(p: {
  readonly billed: readonly BilledRow[]
  readonly counts: DayCounts
  readonly catalogue: Catalogue
  readonly lists: Lists
  /** The upstreams that this bill is for; undefined for all. */
  readonly upstreams?: readonly string[] | undefined
}): DayComparison {
  const { catalogue, lists, upstreams } = p
  const isOurs = ({ target }: { target: string | null }) =>
    upstreams === undefined || target === null || upstreams.includes(target)
  const nameOf = ({ model, target }: { model: string; target: string | null }) => {
    const sold = catalogue.models.find(({ id }) => id === model)
    return sold === undefined ? model : upstreamName(sold, target ?? '')
  }
  const found = new Map<string, Sums>()
  const at = (model: string, rate: string, dimension: string): Sums => {
    const key = JSON.stringify([model, rate, dimension])
    const sums = found.get(key) ?? { billed: 0n, counted: 0n, open: 0n, parts: [] }
    found.set(key, sums)
    return sums
  }
  for (const { model, values, amounts } of p.billed) {
    for (const [dimension, amount] of amounts) {
      // Speed and geography multiply tokens only.
      const rate = tokenWords.has(dimension) ? lists.rateOf(values) : ''
      at(model, rate, dimension).billed += amount
    }
  }
  const counted = p.counts.counted.filter(isOurs)
  for (const row of counted) {
    const { above, values } = lists.listOf(row.list)
    for (const [kind, word] of kinds) {
      const amount = row.counts[kind]
      if (amount === 0n) continue
      const sums = at(nameOf(row), lists.rateOf(values), word)
      sums[isKnown(row, word) ? 'counted' : 'open'] += amount
      sums.parts.push({ thing: { kind, above, values } as BilledThing, amount })
    }
  }
  const inReport = new Set(p.billed.flatMap(({ amounts }) => [...amounts.keys()]))
  const notInReport: { model: string; dimension: string }[] = []
  for (const row of p.counts.used.filter(isOurs)) {
    const dimension = `${row.feature} use`
    // The vendor's report counts searches; other tools only if it begins to bill them.
    if (!inReport.has(dimension) && row.feature !== 'web_search') {
      notInReport.push({ model: nameOf(row), dimension })
      continue
    }
    const sums = at(nameOf(row), '', dimension)
    sums[isKnown(row, dimension) ? 'counted' : 'open'] += row.count
    sums.parts.push({ thing: { tool: row.feature }, amount: row.count })
  }
  const open = openOf(p.counts, isOurs, nameOf)
  const lines = [...found].flatMap(([key, sums]): TieLine[] => {
    if (sums.billed === 0n && sums.counted === 0n && sums.open === 0n) return []
    const [model, rate, dimension] = JSON.parse(key) as [string, string, string]
    const difference = sums.billed - sums.counted - sums.open
    const ofModel = open.filter((one) => one.model === model)
    return [
      { model, rate, dimension, ...sums, difference, verdict: verdictOf(dimension, sums, ofModel) },
    ]
  })
  const sold = new Map<string, Credits>()
  for (const row of counted) {
    sold.set(nameOf(row), micro((sold.get(nameOf(row)) ?? 0n) + row.charged))
  }
  return {
    ...{ day: p.counts.day, lines: lines.toSorted(byName), open, notInReport, sold },
    writtenOff: micro(counted.reduce((sum, row) => sum + row.writtenOff, 0n)),
  }
}

/** Of a stream that its client left, the vendor has reported the input but not the output. */
function isKnown(
  { certainty, ending }: { certainty: CountCertainty; ending: string },
  dimension: string,
): boolean {
  if (certainty === 'reported') return true
  return certainty === 'estimated' && ending !== 'complete' && inputWords.has(dimension)
}

/**
 * The vendor cannot bill less than it reported to us; what ran at midnight is not part of that.
 * More it can bill only for requests whose counts we do not know: of input at most what failed
 * replies had reported, unless a request reported nothing at all or ran at midnight; of output and
 * uses any number.
 */
function verdictOf(
  dimension: string,
  { billed, counted, open }: Sums,
  requests: readonly OpenRequests[],
): Verdict {
  const figure = counted + open
  if (billed === figure) return 'ties'
  if (billed < counted) return 'differs'
  const isUnlimited = requests.some((one) => !isKnown(one, dimension) && one.certainty !== 'seen')
  if (inputWords.has(dimension) && !isUnlimited) return billed < figure ? 'open' : 'differs'
  return requests.length > 0 ? 'open' : 'differs'
}

function openOf(
  { counted, acrossMidnight }: DayCounts,
  isOurs: (row: { target: string | null }) => boolean,
  nameOf: (row: { model: string; target: string | null }) => string,
): OpenRequests[] {
  const sums = new Map<string, OpenRequests>()
  const late = acrossMidnight.map((row) => ({
    ...{ ...row, ending: 'complete', certainty: 'midnight' as const },
  }))
  for (const row of [...counted, ...late].filter(isOurs)) {
    const { certainty, ending } = row
    if (certainty === 'reported' || row.requests === 0) continue
    const model = nameOf(row)
    const key = JSON.stringify([model, ending, certainty])
    const requests = row.requests + (sums.get(key)?.requests ?? 0)
    sums.set(key, { model, ending, certainty, requests })
  }
  return [...sums.values()]
}

function byName(a: TieLine, b: TieLine): number {
  const [one, other] = [a, b].map(({ model, rate, dimension }) => `${model} ${rate} ${dimension}`)
  return (one ?? '') < (other ?? '') ? -1 : 1
}
