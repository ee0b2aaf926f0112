// The names in prices that the pages have words for, as in requests and in the catalogue.
import type { PriceDimension } from '../../src/cabinet/contract/prices.ts'

/** What a request can ask for that multiplies the price of every token. */
export const dimensions = [
  'speed',
  'inference_geo',
  'service_tier',
] as const satisfies readonly PriceDimension[]

/** Tools and features whose use may cost credits. */
export const tools = [
  'web_search',
  'web_fetch',
  'code_execution',
  'tool_search',
  'server_tools',
  'mcp',
  'advisor',
  'fallbacks',
  'compaction',
] as const
export type Tool = (typeof tools)[number]

/** Values of the dimensions, each with its key in the words. */
export const valueKeys = {
  'speed=fast': 'fast',
  'inference_geo=us': 'us',
  'inference_geo=eu': 'eu',
  'service_tier=priority': 'priority',
  'service_tier=batch': 'batch',
} as const

export function isTool(name: string): name is Tool {
  return (tools as readonly string[]).includes(name)
}
