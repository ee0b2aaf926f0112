// Describes the changes between two catalogues in words, for an operator who is about to apply one.
import { creditsText } from '../units/credits.ts'
import { rublesText } from '../units/kopecks.ts'
import { millionthsText, type Price } from '../units/price.ts'
import type { Catalogue, Model } from './catalogue.ts'
import type { Localized, Pack } from './packs.ts'

type Facts = Readonly<Record<string, string>>

/** One sentence per difference; empty when there is none. Versions are not compared. */
export function differences(before: Catalogue, after: Catalogue): string[] {
  return [
    ...describeChanges(
      'model',
      factsById(before.models, modelFacts),
      factsById(after.models, modelFacts),
    ),
    ...describeChanges(
      'pack',
      factsById(before.packs, packFacts),
      factsById(after.packs, packFacts),
    ),
  ]
}

/** True when each model and pack is in the other catalogue at the same price, under any title. */
export function hasOnlyPricesOf(other: Catalogue, catalogue: Catalogue): boolean {
  const known = new Set(pricesOf(other))
  return pricesOf(catalogue).every((price) => known.has(price))
}

function pricesOf({ models, packs }: Catalogue): string[] {
  return [
    ...models.map(({ id, lists, features }) => {
      const uses = Object.entries(features).map(([name, { perUse }]) => [name, perUse])
      return JSON.stringify([id, lists, uses], (_, value: unknown) =>
        typeof value === 'bigint' ? value.toString() : value,
      )
    }),
    ...packs.map(({ credits, priceKopecks }) => `${credits} for ${priceKopecks}`),
  ]
}

function modelFacts(model: Model): Facts {
  const { upstreamNames: names } = model
  const facts: Record<string, string> = {
    ...nameFacts('display name', model.displayName),
    created: model.createdAt,
    'context window': model.contextWindow.toString(),
    'output ceiling': model.outputCeiling.toString(),
    ...priceFacts(model.price),
  }
  for (const { above, price } of model.tiers) {
    const suffix = ` above ${above} tokens`
    for (const [name, value] of Object.entries(priceFacts(price))) facts[name + suffix] = value
  }
  for (const [dimension, values] of Object.entries(model.multipliers)) {
    for (const [value, factor] of Object.entries(values)) {
      facts[`multiplier of ${dimension} ${value}`] = millionthsText(factor)
    }
  }
  for (const [upstream, name] of Object.entries(
    typeof names === 'string' ? { '': names } : names,
  )) {
    facts[upstream === '' ? 'upstream name' : `upstream name at ${upstream}`] = name
  }
  for (const [name, feature] of Object.entries(model.features)) {
    const { iterationsMax, perUse, usesMax, contentMax } = feature
    facts[`passes of ${name}`] = iterationsMax.toString()
    if (perUse > 0n) facts[`price of a use of ${name}`] = creditsText(perUse)
    if (usesMax > 0) facts[`uses of ${name}`] = usesMax.toString()
    if (contentMax > 0) facts[`tokens of a use of ${name}`] = contentMax.toString()
  }
  return facts
}

function priceFacts(price: Price): Facts {
  return {
    'weight of input': millionthsText(price.input),
    coefficient: millionthsText(price.coefficient),
    'weight of cache reads': millionthsText(price.cacheRead),
    'weight of 5-minute cache writes': millionthsText(price.cacheWrite5m),
    'weight of 1-hour cache writes': millionthsText(price.cacheWrite1h),
  }
}

function nameFacts(what: string, { ru, en }: Localized): Facts {
  return ru === en ? { [what]: en } : { [what]: en, [`${what} (ru)`]: ru }
}

function packFacts(pack: Pack): Facts {
  return {
    ...nameFacts('name', pack.name),
    credits: creditsText(pack.credits),
    price: `${rublesText(pack.priceKopecks)} RUB`,
  }
}

function factsById<T extends { readonly id: string }>(
  items: readonly T[],
  facts: (item: T) => Facts,
) {
  return new Map(items.map((item) => [item.id, facts(item)]))
}

function describeChanges(
  kind: string,
  before: Map<string, Facts>,
  after: Map<string, Facts>,
): string[] {
  const sentences: string[] = []
  for (const id of new Set([...before.keys(), ...after.keys()])) {
    const [old, now] = [before.get(id), after.get(id)]
    if (old === undefined) sentences.push(`${kind} ${id} is added: ${listFacts(now ?? {})}`)
    else if (now === undefined) sentences.push(`${kind} ${id} is removed`)
    else sentences.push(...changes(old, now).map((change) => `${kind} ${id}: ${change}`))
  }
  const kept = (own: Map<string, Facts>, other: Map<string, Facts>) =>
    [...own.keys()].filter((id) => other.has(id)).join()
  if (kept(before, after) !== kept(after, before)) sentences.push(`the ${kind}s change their order`)
  return sentences
}

function listFacts(facts: Facts): string {
  return Object.entries(facts)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')
}

function changes(old: Facts, now: Facts): string[] {
  return [...new Set([...Object.keys(old), ...Object.keys(now)])]
    .filter((name) => old[name] !== now[name])
    .map((name) => `${name} ${old[name] ?? 'none'} → ${now[name] ?? 'none'}`)
}
