// What a day costs at each upstream: our counts of its requests at the operator's copy of the
// vendor's prices. Requests whose usage the upstream did not report are counted beside it.
import type { DayCounts } from '../ledger/ledger.ts'
import type { Catalogue, Fraction, Pricing, VendorPrices } from '../pricing/pricing.ts'
import { compareDay } from './compare.ts'
import { countedCost } from './money.ts'

export type UpstreamCost = {
  /** Null for requests of before upstreams were recorded. */
  readonly upstream: string | null
  readonly requests: number
  /** Of these, requests that the upstream may bill without having reported their usage. */
  readonly unreported: number
  /** Undefined without a price of the vendor for something that was used. */
  readonly cost: Fraction | undefined
}

export function upstreamCosts(p: {
  readonly counts: DayCounts
  readonly catalogue: Catalogue
  readonly vendor: VendorPrices | undefined
  readonly pricing: Pick<Pricing, 'bills' | 'money'>
}): UpstreamCost[] {
  const { counts, catalogue, vendor, pricing } = p
  const sent = counts.counted.filter(({ certainty }) => certainty !== null)
  const upstreams = new Set([...sent, ...counts.used].map(({ target }) => target))
  return [...upstreams].toSorted().map((upstream) => {
    const isOwn = ({ target }: { target: string | null }) => target === upstream
    const counted = sent.filter(isOwn)
    const own = { ...counts, counted, used: counts.used.filter(isOwn), acrossMidnight: [] }
    const lists = pricing.bills
    const comparison = compareDay({ billed: [], counts: own, catalogue, lists })
    const sumOf = (rows: typeof counted) => rows.reduce((sum, one) => sum + one.requests, 0)
    return {
      upstream,
      requests: sumOf(counted),
      unreported: sumOf(counted.filter(({ certainty }) => certainty === 'unknown')),
      cost: countedCost(comparison, { catalogue, vendor, pricing }),
    }
  })
}
