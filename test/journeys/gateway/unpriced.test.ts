// The words of a refused feature. Coding agents match them and repeat the turn without what was
// refused: a type after `Input tag`, a field before `Extra inputs are not permitted`, a beta after
// `capability_rejected: beta_header:`. `npm run compat -- agents` tries it with a real one.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createTestGateway, type TestGateway } from '../../stages/gateway.ts'
import { createCaller } from './caller.ts'
import { question, type RequestOptions, refusalOf } from './client.ts'

let gateway: TestGateway
before(async () => {
  gateway = await createTestGateway()
})
after(() => gateway.end())

const notHere = 'not available for this model here'
const tool = (type: string) => `tools.0: Input tag '${type}' found using 'type' is ${notHere}`
const field = (name: string, capability: string) =>
  `${name}: Extra inputs are not permitted (${notHere}; capability_rejected: ${capability})`
const asking = (members: Readonly<Record<string, unknown>>, beta?: string): RequestOptions => ({
  body: question('Hi', members),
  ...(beta !== undefined && { headers: { 'anthropic-beta': `other-2025-01-01, ${beta}` } }),
})

const search = 'web_search_20250305'
const fast = 'fast-mode-2026-02-01'
const million = 'context-1m-2025-08-07'
const window = 'the context window of this model has 200000 tokens here'

const refused: readonly [what: string, request: RequestOptions, message: string][] = [
  ['a server tool', asking({ tools: [{ type: search, name: 'web_search' }] }), tool(search)],
  ['an advisor', asking({ tools: [{ type: 'advisor_20260301' }] }), tool('advisor_20260301')],
  ['a toolset', asking({ tools: [{ type: 'mcp_toolset' }] }), tool('mcp_toolset')],
  ['an overlong type', asking({ tools: [{ type: 'x'.repeat(99) }] }), tool('x'.repeat(64))],
  ['an MCP server', asking({ mcp_servers: [{ type: 'url' }] }), field('mcp_servers', 'mcp')],
  ['fallbacks', asking({ fallbacks: 'default' }), field('fallbacks', 'fallbacks')],
  ['compaction', asking({ compaction: { type: 'auto' } }), field('compaction', 'compaction')],
  [
    'compaction among the edits',
    asking({ context_management: { edits: [{ type: 'compact_20260112' }] } }),
    field('context_management', 'compaction'),
  ],
  ['a speed', asking({ speed: 'fast' }), field('speed', 'speed')],
  ['a speed and its beta', asking({ speed: 'fast' }, fast), field('speed', `beta_header:${fast}`)],
  ['a geography', asking({ inference_geo: 'us' }), field('inference_geo', 'inference_geo')],
  ['a context', asking({}, million), `capability_rejected: beta_header:${million} (${window})`],
]
for (const [what, request, message] of refused) {
  test(`${what} without a price is refused in words that agents recover from`, async () => {
    const caller = await createCaller(gateway)
    const answer = await caller.ask(request)
    assert.deepEqual([answer.status, refusalOf(answer).error.message], [400, message])
    assert.equal(gateway.vendor.requests.length, 0)
    caller.end()
  })
}
