// The catalogue's prices in the form of the contract: all price lists of a model, and its tools.
import type { Model, PriceList } from '../../pricing/pricing.ts'
import { creditsText } from '../../units/credits.ts'
import { type Millionths, millionthsText } from '../../units/price.ts'
import type * as contract from '../contract/prices.ts'

export function modelPrice(model: Model): contract.ModelPrice {
  const [first, ...others] = model.lists as [PriceList, ...PriceList[]]
  const { speed, inference_geo, service_tier } = model.multipliers
  return {
    id: model.id,
    name: model.displayName,
    contextWindow: String(model.contextWindow),
    outputCeiling: String(model.outputCeiling),
    lists: [listOf(first), ...others.map(listOf)],
    multipliers: {
      speed: factorTexts(speed),
      inference_geo: factorTexts(inference_geo),
      service_tier: factorTexts(service_tier),
    },
    tools: Object.entries(model.features)
      .filter(([, { perUse }]) => perUse > 0n)
      .map(([feature, { perUse, usesMax }]) => ({ feature, perUse: creditsText(perUse), usesMax })),
  }
}

function listOf({ name, above, values, price }: PriceList): contract.PriceList {
  return {
    ...{ name, values, above: String(above) },
    input: millionthsText(price.input),
    output: millionthsText(price.coefficient),
    cacheRead: millionthsText(price.cacheRead),
    cacheWrite5m: millionthsText(price.cacheWrite5m),
    cacheWrite1h: millionthsText(price.cacheWrite1h),
  }
}

function factorTexts(factors: Readonly<Record<string, Millionths>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(factors).map(([value, factor]) => [value, millionthsText(factor)]),
  )
}

export const priceDimensions: readonly contract.PriceDimension[] = [
  'speed',
  'inference_geo',
  'service_tier',
]

/** Reads the name under which the ledger recorded a price list: `above=100000 speed=fast`. */
export function listNamed(name: string): contract.PriceListName {
  const values = new Map(name.split(' ').map((word) => word.split('=') as [string, string]))
  const given = priceDimensions.flatMap((dimension) => {
    const value = values.get(dimension)
    return value === undefined ? [] : [[dimension, value] as const]
  })
  return { name, above: values.get('above') ?? '0', values: Object.fromEntries(given) }
}
