// The packs, each with its price per million credits and what it saves against the pack with the
// highest price per credit. Whole numbers, rounded so that no pack looks cheaper than it is.
import type { Payments } from '../../../payments/payments.ts'
import type { Pack, Pricing } from '../../../pricing/pricing.ts'
import { kopecksPerMillion } from '../../../units/pack-price.ts'
import type * as contract from '../../contract/contract.ts'
import { creditsOf } from '../amounts.ts'

export function packsOf(
  pricing: Pick<Pricing, 'current'>,
  payments: Pick<Payments, 'methods'>,
): readonly contract.Pack[] {
  const { packs } = pricing.current()
  const dearest = packs.reduce<Pack | undefined>(
    (most, pack) => (most === undefined || costsMorePerCredit(pack, most) ? pack : most),
    undefined,
  )
  return packs.map((pack) => ({
    id: pack.id,
    name: pack.name,
    credits: creditsOf(pack.credits),
    priceKopecks: String(pack.priceKopecks),
    kopecksPerMillion: String(kopecksPerMillion(pack)),
    savingPercent: dearest === undefined ? 0 : savingPercent(pack, dearest),
    methods: payments.methods(pack.priceKopecks),
  }))
}

/** Compares by multiplication: no division, no rounding. */
function costsMorePerCredit(pack: Pack, other: Pack): boolean {
  return pack.priceKopecks * other.credits > other.priceKopecks * pack.credits
}

function savingPercent(pack: Pack, dearest: Pack): number {
  const baseCost = dearest.priceKopecks * pack.credits
  const packCost = pack.priceKopecks * dearest.credits
  return Number(((baseCost - packCost) * 100n) / baseCost)
}
