// What a charge is made of, in the form of the contract. units/charge-lines.ts computes it.
import type { Entry } from '../../../ledger/ledger.ts'
import { type ChargeLine, chargeLines } from '../../../units/charge-lines.ts'
import { millionthsText } from '../../../units/price.ts'
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
  const { list, answeredBy, lines, passes, uses, unlisted } = chargeLines(entry)
  return {
    list: listNamed(list),
    answeredBy,
    parts: lines.map(lineOf),
    passes: passes.map((pass) => ({
      ...{ model: pass.model, list: listNamed(pass.list), parts: pass.lines.map(lineOf) },
    })),
    uses: uses.map(({ feature, count, each, cost }) => ({
      feature,
      count: String(count),
      each: creditsOf(each).exact,
      credits: creditsOf(cost),
    })),
    unlisted: priceDimensions.filter((dimension) => unlisted.includes(dimension)),
  }
}

function lineOf({ kind, count, each, cost }: ChargeLine): contract.PriceLine {
  return { kind, tokens: String(count), weight: millionthsText(each), credits: creditsOf(cost) }
}
