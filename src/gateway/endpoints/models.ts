// GET /v1/models and /v1/models/{id}: the catalogue for two families of clients. Each object
// carries the members of both, so that the gateway need not distinguish them. Prices are public:
// without a key the list says what models cost, with one also how far the balance goes.
import { setTimeout as delay } from 'node:timers/promises'
import { isDatabaseUnavailable } from '../../platform/db/database-errors.ts'
import { isRefusal } from '../../platform/refusal.ts'
import type { Dimension, Model } from '../../pricing/pricing.ts'
import { type Credits, creditsText, groupDigits } from '../../units/credits.ts'
import { millionthsText, type Price } from '../../units/price.ts'
import { authenticate } from '../2-authenticate.ts'
import type { Exchange } from '../exchange.ts'
import type { Modules } from '../modules.ts'
import { gatewayRefusal } from '../refusals.ts'
import { unknownModel } from '../unknown-model.ts'
import { writeJson } from './json.ts'
import { limitOf } from './parameters.ts'

/** The vendor's own page size and its maximum. */
const PAGE_DEFAULT = 20
const PAGE_MAX = 1_000

/** Agents wait 3 s for the list: after this time they get the prices alone. */
const BALANCE_WAIT_MS = 1_000

const OVERLOADED_CODES = ['waiting_exhausted', 'request_shed'] as const

export async function getModels(exchange: Exchange, modules: Modules): Promise<void> {
  const shown = await shownTo(exchange, modules)
  const all = modules.pricing.current().models
  const query = new URLSearchParams(exchange.query)
  const limit = limitOf(query.get('limit') ?? undefined, PAGE_DEFAULT, PAGE_MAX)
  const [after, before] = ['after_id', 'before_id'].map((name) => positionOf(query, name, all))
  const range = all.slice(after === undefined ? 0 : after + 1, before)
  const page = before === undefined ? range.slice(0, limit) : range.slice(-limit)
  writeJson(exchange, {
    object: 'list',
    data: page.map((model) => modelObject(shown(model))),
    has_more: page.length < range.length,
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  })
}

export async function getModel(exchange: Exchange, modules: Modules, id: string): Promise<void> {
  const shown = await shownTo(exchange, modules)
  const { modelById, models } = modules.pricing.current()
  const model = modelById.get(id)
  if (model === undefined) throw unknownModel(id, models)
  writeJson(exchange, modelObject(shown(model)))
}

/** Of the model that the query names. A list from its start would make a client page for ever. */
function positionOf(
  query: URLSearchParams,
  name: string,
  all: readonly Model[],
): number | undefined {
  const id = query.get(name)
  if (id === null) return undefined
  const position = all.findIndex((model) => model.id === id)
  if (position >= 0) return position
  throw gatewayRefusal('field_invalid', `${name}: Input should be the id of a model`)
}

/** A model, and how many turns the caller's balance covers, if it is known. */
type Shown = { readonly model: Model; readonly turns: bigint | undefined }

async function shownTo(exchange: Exchange, modules: Modules): Promise<(model: Model) => Shown> {
  const available = await balanceOf(exchange, modules)
  const { turnsAffordable } = modules.pricing
  return (model) => ({
    model,
    turns: available === undefined ? undefined : turnsAffordable(model, available),
  })
}

/**
 * What the caller can spend. Undefined without a key, because prices are public, and when the
 * database does not answer in time or the account has no share of the free endpoints left.
 * Refuses: the refusals of keys.verify and keys.recheck.
 */
async function balanceOf(exchange: Exchange, modules: Modules): Promise<Credits | undefined> {
  const late = delay(BALANCE_WAIT_MS, undefined, { ref: false })
  try {
    return await Promise.race([readBalance(exchange, modules), late])
  } catch (error) {
    const isUnknown = isRefusal(error, 'key_missing', 'ledger_unavailable', ...OVERLOADED_CODES)
    if (isUnknown || isDatabaseUnavailable(error)) return undefined
    throw error
  }
}

async function readBalance(
  exchange: Exchange,
  { keys, ledger, settings, admission }: Modules,
): Promise<Credits | undefined> {
  const known = await authenticate(exchange, keys, settings.slug)
  return admission.inFreeSlot(exchange, known.book, async () => {
    const [, book] = await Promise.all([keys.recheck(known), ledger.balance(known.book)])
    return book?.available
  })
}

function modelObject(shown: Shown) {
  const { model } = shown
  const created = `${model.createdAt}T00:00:00Z`
  return {
    type: 'model',
    id: model.id,
    display_name: model.displayName.en,
    // Coding agents show it below the name, in one line.
    description: descriptionOf(shown),
    created_at: created,
    max_input_tokens: Number(model.contextWindow),
    max_tokens: Number(model.outputCeiling),
    capabilities: null,
    lifecycle: 'active',
    deprecated_at: null,
    retires_at: null,
    // For clients of the other family.
    object: 'model',
    created: Date.parse(created) / 1_000,
    owned_by: 'system',
    // Our prices, in credits per token.
    pricing: pricingOf(model),
  }
}

/** The prices by default; the other members only if the model has any of them. */
function pricingOf({ price, tiers, multipliers, features }: Model) {
  const factors = dimensions.flatMap((dimension) => {
    const values = Object.entries(multipliers[dimension])
    const texts = values.map(([value, factor]) => [value, millionthsText(factor)])
    return values.length === 0 ? [] : [[dimension, Object.fromEntries(texts)] as const]
  })
  const perUse = pricedFeatures(features).map(([name, each]) => [name, creditsText(each)])
  return {
    unit: 'credit',
    ...priceTexts(price),
    ...(tiers.length > 0 && {
      tiers: tiers.map((tier) => ({ above: Number(tier.above), ...priceTexts(tier.price) })),
    }),
    ...(factors.length > 0 && { multipliers: Object.fromEntries(factors) }),
    ...(perUse.length > 0 && { per_use: Object.fromEntries(perUse) }),
  }
}

const dimensions = ['speed', 'inference_geo', 'service_tier'] as const satisfies Dimension[]

function priceTexts(price: Price) {
  return {
    input: millionthsText(price.input),
    output: millionthsText(price.coefficient),
    cache_read: millionthsText(price.cacheRead),
    cache_write_5m: millionthsText(price.cacheWrite5m),
    cache_write_1h: millionthsText(price.cacheWrite1h),
  }
}

function pricedFeatures(features: Model['features']): [string, Credits][] {
  return Object.entries(features).flatMap(([name, { perUse }]): [string, Credits][] =>
    perUse > 0n ? [[name, perUse]] : [],
  )
}

/** `1 in · 5 out · about 2,400 turns left`; without a known balance, only the prices. */
function descriptionOf({ model, turns }: Shown): string {
  const { price, tiers } = model
  const prices = ({ input, coefficient }: Price) =>
    `${millionthsText(input)} in · ${millionthsText(coefficient)} out`
  return [
    prices(price),
    ...tiers.map((tier) => `above ${groupDigits(tier.above)}: ${prices(tier.price)}`),
    ...(turns === undefined ? [] : [turnsText(turns)]),
  ].join(' · ')
}

/** Two digits are enough: a turn is an example. */
function turnsText(turns: bigint): string {
  if (turns === 0n) return 'less than one turn left'
  const unit = 10n ** BigInt(Math.max(0, String(turns).length - 2))
  const about = (turns / unit) * unit
  return `about ${groupDigits(about)} ${about === 1n ? 'turn' : 'turns'} left`
}
