// Refuses what changes the vendor's bill and has no price: it would be free in silence. Coding
// agents recover by the words of the refusal: they repeat the turn without a tool that is named
// after `Input tag`, without a field that is named before `Extra inputs are not permitted`, and
// without a beta that is named after `capability_rejected: beta_header:`. With other words the
// turn fails. No letter, digit or one of `_:.-` may follow the name of a capability.
import type { Refusal } from '../platform/refusal.ts'
import { type DimensionValues, type Model, unpricedOf } from '../pricing/pricing.ts'
import type { Tokens } from '../units/tokens.ts'
import type { MessageRequest } from '../wire/draft.ts'
import type { FeatureOrigin, UnboundedFeature } from '../wire/shape.ts'
import type { Exchange, Parsed } from './exchange.ts'
import { gatewayRefusal } from './refusals.ts'

const NOT_HERE = 'not available for this model here'

/** The values of the request that multiply prices. */
export function valuesOf({ speed, inferenceGeo, serviceTier }: MessageRequest): DimensionValues {
  return { speed, inference_geo: inferenceGeo, service_tier: serviceTier }
}

/** Refuses: feature_unpriced. */
export function refuseUnpriced({ clientRequest }: Exchange, parsed: Parsed<MessageRequest>): void {
  const { model, bound, request } = parsed
  const betas = betasOf(clientRequest.headers['anthropic-beta'])
  const unpriced =
    unpricedOf(model, valuesOf(request), bound.unbounded) ?? featureOfUnsoldModel(parsed)
  if (unpriced !== undefined) {
    const origin = request.shape.origins[unpriced as UnboundedFeature]
    throw refusal(unpriced, origin ?? { field: unpriced }, betas)
  }
  const beta = betas.find((one) => isBeyondWindow(one, model.contextWindow))
  if (beta !== undefined) {
    const sentence = `capability_rejected: beta_header:${beta} (${beyondWindow(model)})`
    throw gatewayRefusal('feature_unpriced', sentence, { feature: 'context' })
  }
}

/** A fallback or an advisor that is not sold, or a fallback at a speed that is not held for. */
function featureOfUnsoldModel(parsed: Parsed<MessageRequest>): UnboundedFeature | undefined {
  const { request, catalogue } = parsed
  const { otherModels, otherSpeeds, unbounded } = request.shape
  const isSold = (name: string) => catalogue.modelByUpstreamName.has(name)
  const isHeld = (speed: string) => speed === 'standard' || speed === request.speed
  if (otherModels.every(isSold) && otherSpeeds.every(isHeld)) return undefined
  return unbounded.includes('fallbacks') ? 'fallbacks' : 'advisor'
}

function refusal(feature: string, origin: FeatureOrigin, betas: readonly string[]): Refusal {
  const { field, toolType } = origin
  if (toolType !== undefined) {
    const sentence = `${field}: Input tag '${toolType}' found using 'type' is ${NOT_HERE}`
    return gatewayRefusal('feature_unpriced', sentence, { feature })
  }
  const beta = feature === 'speed' ? betas.find((one) => one.startsWith('fast-mode-')) : undefined
  const capability = beta === undefined ? feature : `beta_header:${beta}`
  const sentence = `${field}: Extra inputs are not permitted`
  const reason = `${NOT_HERE}; capability_rejected: ${capability}`
  return gatewayRefusal('feature_unpriced', `${sentence} (${reason})`, { feature })
}

function beyondWindow({ contextWindow }: Model): string {
  return `the context window of this model has ${contextWindow} tokens here`
}

function betasOf(header: string | string[] | undefined): readonly string[] {
  if (header === undefined) return []
  return String(header)
    .split(',')
    .map((beta) => beta.trim())
}

/** `context-1m-2025-08-07` lets a model read a million tokens, more than the hold would cover. */
function isBeyondWindow(beta: string, window: Tokens): boolean {
  const [, count = '0', unit] = /^context-(\d{1,6})([km])-/.exec(beta) ?? []
  return BigInt(count) * (unit === 'm' ? 1_000_000n : 1_000n) > window
}
