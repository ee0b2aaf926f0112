// The catalogue for the console: prices in force with what they leave, versions, and what each
// version changed. No customer is among it.
import type {
  AppliedVersion,
  Catalogue,
  Fraction,
  MarginLine,
  Model,
  Pricing,
  VendorPrices,
} from '../../../pricing/pricing.ts'
import { credits } from '../../../units/credits.ts'
import { millionthsText, type Price } from '../../../units/price.ts'
import { versionChanges } from '../../catalogue/catalogue-versions.ts'
import { parseCount } from '../../desk/amounts.ts'
import type { OperatorModules } from '../../desk/modules.ts'
import type * as contract from '../contract/catalogue.ts'
import { ConsoleRefusal } from '../refusals.ts'
import type { RouteTable } from '../routes.ts'
import { creditsOf } from './amounts.ts'

type Modules = Pick<OperatorModules, 'pricing' | 'vendorBill'>
type CatalogueRoute = 'GET /api/catalogue' | 'GET /api/catalogue/:version'

export function catalogueRoutes(modules: Modules): RouteTable<CatalogueRoute> {
  return {
    'GET /api/catalogue': { access: 'prices.read', run: () => readCatalogue(modules) },
    'GET /api/catalogue/:version': {
      access: 'prices.read',
      run: ({ params }) => readVersion(modules, params.version),
    },
  }
}

/** Refuses: thing_unknown. */
async function readCatalogue({ pricing, vendorBill }: Modules): Promise<contract.Catalogue> {
  const catalogue = await pricing.refresh()
  if (catalogue === undefined) throw unknownVersion()
  const { vendor, problem } = await vendorPrices(vendorBill)
  const margins = vendor === undefined ? [] : marginsOf(pricing, catalogue, vendor)
  const { kopecksOf } = pricing.money
  return {
    version: catalogue.version,
    models: catalogue.models.map((model) => ({
      ...modelOf(model),
      typical: typicalOf(pricing, model, catalogue),
      margins: margins
        .filter((line) => line.model === model.id)
        .map((line) => marginOf(pricing, line)),
    })),
    packs: catalogue.packs.map((pack) => ({
      ...{ id: pack.id, name: pack.name, credits: creditsOf(pack.credits) },
      priceKopecks: String(pack.priceKopecks),
      millionKopecks: floor(kopecksOf(credits(1_000_000), pack)),
    })),
    marginProblem: problem,
    versions: (await pricing.history()).map(versionOf),
  }
}

/** Refuses: thing_unknown. */
async function readVersion({ pricing }: Modules, text: string): Promise<contract.VersionChanges> {
  const number = parseCount(text)
  const found = number === undefined ? undefined : await versionChanges(pricing, number)
  if (found === undefined) throw unknownVersion()
  const { applied, catalogue, before, differences, inMoney } = found
  return {
    ...versionOf(applied),
    isInForce: (await pricing.refresh())?.version === applied.version,
    ...{ differences, inMoney },
    typical: changedTypical(pricing, before, catalogue),
    text: pricing.format(catalogue),
  }
}

function unknownVersion(): ConsoleRefusal {
  return new ConsoleRefusal('thing_unknown', 'There is no such version.')
}

function versionOf({ version, appliedAt, appliedBy, note }: AppliedVersion) {
  return { version, appliedAt, by: appliedBy, note }
}

/** A wrong file of the vendor's prices does not hide our own. */
async function vendorPrices(vendorBill: Modules['vendorBill']) {
  try {
    const vendor = await vendorBill.vendorPrices()
    return { vendor, problem: vendor === undefined ? ('none' as const) : null }
  } catch {
    return { vendor: undefined, problem: 'unreadable' as const }
  }
}

function modelOf(model: Model) {
  const { id, displayName, upstreamNames: names, contextWindow, outputCeiling } = model
  const upstreamNames =
    typeof names === 'string'
      ? [{ upstream: null, name: names }]
      : Object.entries(names).map(([upstream, name]) => ({ upstream, name }))
  return {
    ...{ id, name: displayName, upstreamNames },
    contextWindow: String(contextWindow),
    outputCeiling: String(outputCeiling),
    price: pricesOf(model.price),
    lists: model.lists
      .filter(({ name }) => name !== '')
      .map(({ name, price }) => ({ name, price: pricesOf(price) })),
    features: Object.entries(model.features).map(([name, { perUse }]) => ({
      ...{ name, perUse: creditsOf(perUse) },
    })),
  }
}

function pricesOf({ input, coefficient, ...cache }: Price): contract.TokenPrices {
  return {
    input: millionthsText(input),
    output: millionthsText(coefficient),
    cacheRead: millionthsText(cache.cacheRead),
    cacheWrite5m: millionthsText(cache.cacheWrite5m),
    cacheWrite1h: millionthsText(cache.cacheWrite1h),
  }
}

function typicalOf({ typical }: Pricing, model: Model, { packs }: Catalogue): contract.TypicalCost {
  const cost = typical.cost(model)
  const range = typical.kopecksRange(cost, packs)
  return {
    credits: creditsOf(cost),
    least: range === undefined ? null : floor(range.least),
    most: range === undefined ? null : floor(range.most),
  }
}

/** Models that both versions have or one of them lacks, if a typical request costs another sum. */
function changedTypical(pricing: Pricing, before: Catalogue | undefined, after: Catalogue) {
  const costs = (catalogue: Catalogue | undefined) =>
    new Map(
      (catalogue?.models ?? []).map((model) => [
        model.id,
        typicalOf(pricing, model, catalogue as Catalogue),
      ]),
    )
  const [old, now] = [costs(before), costs(after)]
  return [...new Set([...old.keys(), ...now.keys()])]
    .map((model) => ({ model, before: old.get(model) ?? null, after: now.get(model) ?? null }))
    .filter((one) => JSON.stringify(one.before) !== JSON.stringify(one.after))
}

/** For each thing sold its worst price list; the worst of a model first. */
function marginsOf({ margin }: Pricing, catalogue: Catalogue, vendor: VendorPrices): MarginLine[] {
  // Losses, unknown costs, profits; what is not charged, and costs nothing, is last.
  const place = (line: MarginLine) => {
    if (line.verdict === 'loss') return 0
    if (line.verdict === 'unknown') return 1
    return margin.tenths(line) === undefined ? 3 : 2
  }
  const tenths = (line: MarginLine) => Number(margin.tenths(line) ?? 0n)
  return margin
    .worst(margin.lines(catalogue, vendor))
    .toSorted((a, b) => place(a) - place(b) || tenths(a) - tenths(b))
}

function marginOf({ margin }: Pricing, line: MarginLine): contract.MarginLine {
  const { sold, list, revenue, cost, verdict } = line
  const tenths = margin.tenths(line)
  return {
    ...{ sold, list, verdict, brings: floor(revenue) },
    costs: cost === undefined ? null : String((cost.top + cost.bottom - 1n) / cost.bottom),
    tenths: tenths === undefined ? null : String(tenths),
  }
}

/** Whole kopecks, rounded down. */
function floor({ top, bottom }: Fraction): string {
  return String(top / bottom)
}
