// What a version of the catalogue changed against the one before it, for `op catalogue show` and
// for the console.
import type { Pricing } from '../../pricing/pricing.ts'

/** Undefined when there is no such version. */
export async function versionChanges(pricing: Pricing, version: number) {
  const applied = (await pricing.history()).find((one) => one.version === version)
  const catalogue = await pricing.version(version)
  if (applied === undefined || catalogue === undefined) return undefined
  // Versions have no gaps; before the first one there was nothing.
  const before = await pricing.version(version - 1)
  const compared = before ?? { version: 0, models: [], packs: [] }
  return {
    ...{ applied, catalogue, before },
    differences: pricing.diff(compared, catalogue),
    inMoney: pricing.diffInMoney(compared, catalogue),
  }
}
