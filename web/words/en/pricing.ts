// What a price list, a multiplier or a tool is called, in English; in the middle of a sentence.

import type { pricing as ru } from '../ru/pricing.ts'
import type { Same } from '../ru/ru.ts'

export const pricing: Same<typeof ru> = {
  price: {
    above_one: 'prompt above {{shown}} token',
    above_other: 'prompt above {{shown}} tokens',
    dimension: { speed: 'speed', inference_geo: 'data region', service_tier: 'service tier' },
    usual: { speed: 'standard', inference_geo: 'any', service_tier: 'standard' },
    value: { fast: 'fast mode', us: 'US', eu: 'EU', priority: 'priority', batch: 'batch' },
    times: '{{value}} ×{{factor}}',
    tool: {
      web_search: 'web search',
      web_fetch: 'web fetch',
      code_execution: 'code execution',
      tool_search: 'tool search',
      server_tools: 'other server tools',
      mcp: 'MCP tools',
      advisor: 'advisor model',
      fallbacks: 'fallback model',
      compaction: 'context compaction',
    },
    perUse: '{{tool}}: {{credits}} per use',
  },
}
