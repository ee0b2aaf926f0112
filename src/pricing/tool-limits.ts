// The limits of server tools: how often each may be used and how much content a use may return. The
// catalogue's limits apply to every request. When the balance does not cover them, max_tokens is
// lowered first, down to a small reply, then the uses, down to one, then the content.
import type { Credits } from '../units/credits.ts'
import { type Tokens, tokens } from '../units/tokens.ts'
import type { Model } from './catalogue.ts'
import { featureOf, USES_MAX } from './model-schema.ts'
import {
  affordableMaxTokens,
  largest,
  least,
  type PricedRequest,
  type ToolLimits,
  worstCaseUpTo,
} from './worst-case.ts'

/** A server tool as the client sent it; undefined where it sets no limit. */
export type AskedTool = {
  readonly feature: string
  readonly maxUses: number | undefined
  readonly maxContentTokens: number | undefined
}

/** Tools whose definition has `max_uses`. */
const limitedTools = new Set(['web_search', 'web_fetch', 'advisor'])
/** The tool whose definition has `max_content_tokens`; for others the catalogue's figure counts. */
const CONTENT_TOOL = 'web_fetch'

/** The limits by the request and, if they may be lowered, by the catalogue. */
export function toolLimits(
  model: Model,
  asked: readonly AskedTool[],
  mayLower: boolean,
): readonly ToolLimits[] {
  return asked.map(({ feature, maxUses, maxContentTokens }) => {
    const listed = featureOf(model, feature)
    if (listed === undefined || !limitedTools.has(feature)) {
      return { feature, uses: undefined, contentTokens: undefined }
    }
    // An advisor's use is a pass.
    const usesMax = listed.usesMax || (feature === 'advisor' ? listed.iterationsMax : undefined)
    const contentMax = listed.contentMax || undefined
    // Where nothing may be inserted, a request without a limit allows any number of uses.
    const uses = within(maxUses, mayLower ? usesMax : USES_MAX, true)
    if (feature !== CONTENT_TOOL) return { feature, uses, contentTokens: contentMax }
    const contentTokens = within(maxContentTokens, mayLower ? contentMax : undefined, mayLower)
    return { feature, uses, contentTokens }
  })
}

function within(
  asked: number | undefined,
  most: number | undefined,
  mayInsert: boolean,
): number | undefined {
  if (asked === undefined) return mayInsert ? most : undefined
  return most === undefined ? asked : Math.min(asked, most)
}

// Enough for an answer or a tool call of a few pages.
const FLOOR_TOKENS = tokens(4096)
// Thinking counts as output: without tokens beyond its budget the reply would have no answer.
const FLOOR_TOKENS_AFTER_THINKING = 1024n
/** Tokens of a fetched page below which fetching is not worth its pass: two or three pages. */
const FLOOR_CONTENT_TOKENS = 4_096

type LimitedRequest = PricedRequest & {
  readonly maxTokens: Tokens
  readonly thinkingBudget?: Tokens | undefined
}

/** The worst case of a small reply with one use of each tool. With less, the request is refused. */
export function floorCost(request: LimitedRequest): Credits {
  const tools = (request.tools ?? []).map((tool) => cut(tool, 1, FLOOR_CONTENT_TOKENS))
  return worstCaseUpTo({ ...request, tools }, floorTokens(request))
}

function floorTokens({ maxTokens, thinkingBudget = tokens(0) }: LimitedRequest): Tokens {
  const withThinking = tokens(thinkingBudget + FLOOR_TOKENS_AFTER_THINKING)
  return least(maxTokens, withThinking > FLOOR_TOKENS ? withThinking : FLOOR_TOKENS)
}

function cut(tool: ToolLimits, uses: number, contentTokens?: number): ToolLimits {
  const { feature } = tool
  const isContentLimited = feature === CONTENT_TOOL && contentTokens !== undefined
  return {
    feature,
    uses: tool.uses === undefined ? undefined : Math.min(tool.uses, uses),
    contentTokens:
      tool.contentTokens === undefined || !isContentLimited
        ? tool.contentTokens
        : Math.min(tool.contentTokens, contentTokens),
  }
}

export type LoweredRequest = { readonly maxTokens: Tokens; readonly tools: readonly ToolLimits[] }

/** What the granted credits, at least the floor, cover of the request. */
export function lowerTo(request: LimitedRequest, granted: Credits): LoweredRequest {
  const { tools = [] } = request
  const small = floorTokens(request)
  const fits = (limits: readonly ToolLimits[]) =>
    worstCaseUpTo({ ...request, tools: limits }, small) <= granted
  const withUses = (uses: bigint) => tools.map((tool) => cut(tool, Math.max(1, Number(uses))))
  const withContent = (content: bigint) =>
    tools.map((tool) => cut(tool, 1, Math.max(FLOOR_CONTENT_TOKENS, Number(content))))
  let limits = tools
  if (!fits(limits)) {
    const most = Math.max(0, ...tools.map(({ uses = 0 }) => uses))
    limits = withUses(largest(BigInt(most), (uses) => fits(withUses(uses))))
  }
  if (!fits(limits)) {
    const most = Math.max(0, ...tools.map(({ contentTokens = 0 }) => contentTokens))
    limits = withContent(largest(BigInt(most), (content) => fits(withContent(content))))
  }
  const affordable = affordableMaxTokens({ ...request, tools: limits, granted })
  // The floor covers a small reply, so the granted amount does too.
  return { maxTokens: affordable ?? small, tools: limits }
}
