// What changes between two catalogues, in words an operator reads before saying yes.
import { creditsText } from '../units/credits.ts'
import { rublesText } from '../units/kopecks.ts'
import { millionthsText } from '../units/price.ts'
import type { Catalogue, Model } from './catalogue.ts'
import type { Pack } from './packs.ts'

type Facts = Readonly<Record<string, string>>

/** One sentence per difference; empty when the two mean the same. Versions are not compared. */
export function differences(before: Catalogue, after: Catalogue): string[] {
  return [
    ...between('model', factsById(before.models, modelFacts), factsById(after.models, modelFacts)),
    ...between('pack', factsById(before.packs, packFacts), factsById(after.packs, packFacts)),
  ]
}

/** True when every model and pack is one of the other catalogue's at its price, under any title. */
export function hasOnlyPricesOf(other: Catalogue, catalogue: Catalogue): boolean {
  const known = new Set(pricesOf(other))
  return pricesOf(catalogue).every((price) => known.has(price))
}

function pricesOf({ models, packs }: Catalogue): string[] {
  return [
    ...models.map(({ id, price }) => {
      const { coefficient, cacheRead, cacheWrite5m, cacheWrite1h } = price
      return [id, coefficient, cacheRead, cacheWrite5m, cacheWrite1h].join(' ')
    }),
    ...packs.map(({ credits, priceKopecks }) => `${credits} for ${priceKopecks}`),
  ]
}

function modelFacts({ price, ...model }: Model): Facts {
  const { upstreamNames: names } = model
  const facts: Record<string, string> = {
    'display name': model.displayName,
    created: model.createdAt,
    'context window': model.contextWindow.toString(),
    'output ceiling': model.outputCeiling.toString(),
    coefficient: millionthsText(price.coefficient),
    'weight of cache reads': millionthsText(price.cacheRead),
    'weight of 5-minute cache writes': millionthsText(price.cacheWrite5m),
    'weight of 1-hour cache writes': millionthsText(price.cacheWrite1h),
  }
  for (const [upstream, name] of Object.entries(
    typeof names === 'string' ? { '': names } : names,
  )) {
    facts[upstream === '' ? 'upstream name' : `upstream name at ${upstream}`] = name
  }
  for (const [feature, { iterationsMax }] of Object.entries(model.features)) {
    facts[`passes of ${feature}`] = iterationsMax.toString()
  }
  return facts
}

function packFacts(pack: Pack): Facts {
  return {
    name: pack.name,
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

function between(kind: string, before: Map<string, Facts>, after: Map<string, Facts>): string[] {
  const words: string[] = []
  for (const id of new Set([...before.keys(), ...after.keys()])) {
    const [old, now] = [before.get(id), after.get(id)]
    if (old === undefined) words.push(`${kind} ${id} is added: ${listed(now ?? {})}`)
    else if (now === undefined) words.push(`${kind} ${id} is removed`)
    else words.push(...changes(old, now).map((change) => `${kind} ${id}: ${change}`))
  }
  const kept = (own: Map<string, Facts>, other: Map<string, Facts>) =>
    [...own.keys()].filter((id) => other.has(id)).join()
  if (kept(before, after) !== kept(after, before)) words.push(`the ${kind}s change their order`)
  return words
}

function listed(facts: Facts): string {
  return Object.entries(facts)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')
}

function changes(old: Facts, now: Facts): string[] {
  return [...new Set([...Object.keys(old), ...Object.keys(now)])]
    .filter((name) => old[name] !== now[name])
    .map((name) => `${name} ${old[name] ?? 'none'} → ${now[name] ?? 'none'}`)
}
