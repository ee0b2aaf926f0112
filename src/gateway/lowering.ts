// The limits of server tools that step 4 lowered: the edits that step 5 makes in the body, and the
// headers by which the client learns of them.
import type { ToolLimits } from '../pricing/pricing.ts'
import type { Edit } from '../wire/edit.ts'
import type { ServerTool, ToolNumber } from '../wire/shape.ts'

export type LoweredTools = {
  readonly edits: readonly Edit[]
  readonly headers: Readonly<Record<string, string>>
}

export const nothingLowered: LoweredTools = { edits: [], headers: {} }

/** `limits` belong to `tools` one by one. A limit that the client set as low stays as it is. */
export function lowerTools(
  tools: readonly ServerTool[],
  limits: readonly ToolLimits[],
): LoweredTools {
  if (tools.length === 0) return nothingLowered
  const edits: Edit[] = []
  const uses: string[] = []
  const content: string[] = []
  for (const [i, { feature, maxUses, maxContentTokens }] of tools.entries()) {
    const usesMax = lowered(limits[i]?.uses, maxUses)
    if (usesMax !== undefined) {
      edits.push(editOf('max_uses', maxUses, usesMax))
      uses.push(`${feature}=${usesMax}`)
    }
    // Only a fetch has such a member; a search's content is a figure of the catalogue.
    if (feature !== 'web_fetch') continue
    const contentMax = lowered(limits[i]?.contentTokens, maxContentTokens)
    if (contentMax !== undefined) {
      edits.push(editOf('max_content_tokens', maxContentTokens, contentMax))
      content.push(`${feature}=${contentMax}`)
    }
  }
  return {
    edits,
    headers: {
      ...(uses.length > 0 && { 'x-credit-max-uses': uses.join(', ') }),
      ...(content.length > 0 && { 'x-credit-max-content-tokens': content.join(', ') }),
    },
  }
}

/** The limit, if it is below the one that the client set, or the client set none. */
function lowered(limit: number | undefined, { value }: ToolNumber): number | undefined {
  return limit === undefined || (value !== undefined && value <= limit) ? undefined : limit
}

function editOf(name: string, { at }: ToolNumber, value: number): Edit {
  return at.start === at.end ? { range: at, value, name } : { range: at, value }
}
