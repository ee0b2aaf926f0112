// GET /v1/models and /v1/models/{id}: the catalogue as clients of two families read it. Each object
// carries both sets of members, so that neither family needs to be told apart.
import { Refusal } from '../../platform/refusal.ts'
import type { Model } from '../../pricing/pricing.ts'
import { millionthsText } from '../../units/price.ts'
import { authenticate } from '../2-authenticate.ts'
import type { Exchange } from '../exchange.ts'
import type { Rooms } from '../rooms.ts'
import { writeJson } from './json.ts'

/** The vendor's own page size and its maximum. */
const PAGE_DEFAULT = 20
const PAGE_MAX = 1_000

export async function getModels(exchange: Exchange, rooms: Rooms): Promise<void> {
  await authenticate(exchange, rooms.keys, rooms.limits.slug)
  const all = rooms.pricing.current().models
  const query = new URLSearchParams(exchange.query)
  const limit = limitOf(query.get('limit'))
  const [after, before] = [query.get('after_id'), query.get('before_id')]
  const from = after === null ? 0 : all.findIndex((model) => model.id === after) + 1
  const until = before === null ? all.length : all.findIndex((model) => model.id === before)
  const range = all.slice(from, until < 0 ? all.length : until)
  const page = before === null ? range.slice(0, limit) : range.slice(-limit)
  writeJson(exchange, {
    object: 'list',
    data: page.map(modelObject),
    has_more: page.length < range.length,
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  })
}

export async function getModel(exchange: Exchange, rooms: Rooms, id: string): Promise<void> {
  await authenticate(exchange, rooms.keys, rooms.limits.slug)
  const model = rooms.pricing.current().modelById.get(id)
  if (model === undefined) throw new Refusal('model_unknown', `model: ${id}`)
  writeJson(exchange, modelObject(model))
}

function limitOf(text: string | null): number {
  if (text === null) return PAGE_DEFAULT
  const limit = Number(text)
  if (!Number.isInteger(limit) || limit < 1 || limit > PAGE_MAX) {
    throw new Refusal('field_invalid', `limit: Input should be between 1 and ${PAGE_MAX}`)
  }
  return limit
}

function modelObject({ id, displayName, createdAt, contextWindow, outputCeiling, price }: Model) {
  const created = `${createdAt}T00:00:00Z`
  return {
    type: 'model',
    id,
    display_name: displayName,
    created_at: created,
    max_input_tokens: Number(contextWindow),
    max_tokens: Number(outputCeiling),
    capabilities: null,
    lifecycle: 'active',
    deprecated_at: null,
    retires_at: null,
    // For the other family.
    object: 'model',
    created: Date.parse(created) / 1_000,
    owned_by: 'system',
    // What a reply costs here, in credits a token.
    pricing: {
      unit: 'credit',
      input: '1',
      output: millionthsText(price.coefficient),
      cache_read: millionthsText(price.cacheRead),
      cache_write_5m: millionthsText(price.cacheWrite5m),
      cache_write_1h: millionthsText(price.cacheWrite1h),
    },
  }
}
