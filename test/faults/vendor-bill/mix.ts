// The requests of the drill: every way in which a request can be billed, drawn at random. What a
// request asks and what its reply is like stand in its text, as the stand-in reads it.

import { createClient, question } from '../../journeys/gateway/client.ts'
import { tableCatalogue } from '../../prices/catalogue.ts'
import type { TestGateway } from '../../stages/gateway.ts'

/** The stand-in knows these names; `cheap` only serves passes of other models. */
export const catalogueText = tableCatalogue
  .replaceAll('id: plain\n', 'id: plain\n    upstreamNames: model-small\n')
  .replaceAll('id: dear\n', 'id: dear\n    upstreamNames: model-large\n')
  .replaceAll('id: zero\n', 'id: zero\n    upstreamNames: model-medium\n')
  .replace('packs: []', 'packs: [{ id: one, name: One, credits: 1000000, priceKopecks: 90000 }]')

const CACHE = 'cacheRead: 0.03, cacheWrite5m: 0.375, cacheWrite1h: 0.6'
/** What the vendor of the drill bills; only the drill reads it. */
export const vendorPricesText = `
currency: USD
kopecksPerUnit: 9600
multipliers:
  speed: { fast: 2 }
  inference_geo: { us: 1.1 }
  service_tier: { priority: 1.5 }
tools: { web_search: 0.01, web_fetch: 0, code_execution: 0.001 }
models:
  - { name: model-small, input: 0.3, output: 1.5, ${CACHE} }
  - { name: model-medium, input: 0.3, output: 1.5, ${CACHE} }
  - { name: vendor-cheap, input: 0.03, output: 0.15, ${CACHE} }
  - name: model-large
    input: 3
    output: 15
    cacheRead: 0.3
    cacheWrite5m: 3.75
    cacheWrite1h: 6
    tiers:
      - { above: 100000, input: 6, output: 22.5, ${CACHE} }
`

type Draw = () => number
type Asked = {
  readonly text: string
  readonly more?: Readonly<Record<string, unknown>>
  /** The client leaves when it has this many bytes; 0: before the reply begins. */
  readonly leavesAt?: number
  /** Credits of an account of its own, so that max_tokens is lowered. */
  readonly credits?: number
}

const reports = (members: object) => `[[fault: usage-members=${JSON.stringify(members)}]]`
const whole = (draw: Draw, most: number) => 1 + Math.floor(draw() * most)
const dear = { model: 'dear' }
/** About 115,000 tokens as the stand-in counts. */
const LONG = 'word '.repeat(80_500)
const MARKED = (ttl: string, text: string) => ({
  messages: [
    {
      role: 'user',
      content: [
        {
          type: 'text',
          text: `A document. ${'fact '.repeat(300)}`,
          cache_control: { type: 'ephemeral', ttl },
        },
        { type: 'text', text },
      ],
    },
  ],
})
const search = { type: 'web_search_20260318', name: 'web_search' }
const tools = [search, { type: 'code_execution_20260120', name: 'code_execution' }]

/** The kinds of requests, each with its share of the mix. */
export const kinds: Readonly<Record<string, readonly [share: number, ask: (draw: Draw) => Asked]>> =
  {
    plain: [
      20,
      (draw) => ({ text: `[[reply: text ${whole(draw, 60)}]]`, more: { model: 'plain' } }),
    ],
    other: [4, (draw) => ({ text: `[[reply: text ${whole(draw, 60)}]]`, more: { model: 'zero' } })],
    thinking: [
      4,
      (draw) => ({ text: `[[reply: thinking ${whole(draw, 40)} text 9]]`, more: dear }),
    ],
    fast: [
      8,
      (draw) => ({
        text: `[[reply: text ${whole(draw, 60)}]] ${reports({ speed: 'fast' })}`,
        more: { ...dear, speed: 'fast' },
      }),
    ],
    rates: [
      6,
      (draw) => ({
        text: `[[reply: text ${whole(draw, 60)}]] ${reports({
          ...{ speed: 'fast', inference_geo: 'us', service_tier: 'priority' },
        })}`,
        more: { ...dear, speed: 'fast', inference_geo: 'us' },
      }),
    ],
    tier: [2, (draw) => ({ text: `${LONG} [[reply: text ${whole(draw, 60)}]]`, more: dear })],
    cached5m: [5, (draw) => ({ text: '', more: { model: 'plain', ...MARKED('5m', said(draw)) } })],
    cached1h: [5, (draw) => ({ text: '', more: { ...dear, ...MARKED('1h', said(draw)) } })],
    search: [6, () => ({ text: '[[reply: server_tool]]', more: { ...dear, tools: [search] } })],
    tools: [
      6,
      (draw) => ({
        text: `[[reply: text 8]] ${reports({
          server_tool_use: {
            web_search_requests: whole(draw, 4),
            code_execution_requests: whole(draw, 2),
          },
        })}`,
        more: { ...dear, tools },
      }),
    ],
    passes: [
      8,
      (draw) => ({
        text: `[[reply: text 12]] ${reports({
          iterations: [
            ...[passOf('advisor_message', draw, 'vendor-cheap'), passOf('compaction', draw)],
            ...[passOf('advisor_message', draw, 'vendor-cheap')],
          ],
        })}`,
        more: { ...dear, tools: [{ type: 'advisor_20260301' }], context_management: COMPACTION },
      }),
    ],
    fallback: [
      3,
      () => ({
        text: `[[reply: text 7]] ${reports({
          iterations: [{ type: 'fallback_message', model: 'vendor-cheap', output_tokens: 7 }],
        })}`,
        more: { ...dear, fallbacks: [{ model: 'cheap' }] },
      }),
    ],
    clamped: [
      4,
      () => ({ text: '[[reply: text 9000]]', more: { model: 'plain' }, credits: 40_000 }),
    ],
    refused: [3, () => ({ text: '[[fault: status=400]]', more: { model: 'plain' } })],
    overloaded: [1, () => ({ text: '[[fault: status=529]]', more: { model: 'zero' } })],
    noUsage: [
      2,
      () => ({ text: '[[reply: text 9]] [[fault: no-usage]]', more: { model: 'zero' } }),
    ],
    errorEvent: [
      3,
      (draw) => ({
        text: `[[reply: text 40]] [[fault: error-after=${3 + whole(draw, 20)}]]`,
        more: { model: 'zero', stream: true },
      }),
    ],
    reset: [
      2,
      () => ({
        text: '[[reply: text 60]] [[fault: reset-at=2500]]',
        more: { model: 'zero', stream: true },
      }),
    ],
    dropped: [1, () => ({ text: '[[fault: drop]]', more: { model: 'zero' } })],
    left: [
      6,
      (draw) => ({
        text: `[[reply: text 200]] [[fault: pace-ms=20]]`,
        more: { ...dear, stream: true },
        leavesAt: 600 + whole(draw, 1_500),
      }),
    ],
    leftAtEnd: [
      3,
      () => ({
        text: '[[reply: text 30]] [[fault: pace-ms=10]]',
        more: { ...dear, stream: true },
        leavesAt: 1_500,
      }),
    ],
    leftPlain: [2, () => ({ text: '[[fault: headers-ms=80]]', more: dear, leavesAt: 0 })],
  }

const COMPACTION = { edits: [{ type: 'compact_20260112' }] }

function said(draw: Draw): string {
  return `[[reply: text ${whole(draw, 30)}]]`
}

function passOf(type: string, draw: Draw, model?: string): object {
  const counts = { input_tokens: whole(draw, 5_000), output_tokens: whole(draw, 300) }
  return { type, ...counts, ...(model === undefined ? {} : { model }) }
}

/** The kind of each request: every kind at least once, then by its share. */
export function drawKinds(count: number, draw: Draw): string[] {
  const weighted = Object.entries(kinds).flatMap(([name, [share]]) => Array(share).fill(name))
  const once = Object.keys(kinds)
  const more = Array.from(
    { length: count - once.length },
    () => weighted[Math.floor(draw() * weighted.length)] as string,
  )
  // The failures that came once each stand apart: five in a row would open the breaker.
  return [...more, ...once].toSorted(() => draw() - 0.5)
}

/** The status of kinds that the stand-in does not answer with 200; a client that left has none. */
export const statuses: Readonly<Record<string, number | undefined>> = {
  ...{ refused: 400, overloaded: 529, dropped: 502 },
  ...{ left: undefined, leftAtEnd: undefined, leftPlain: undefined, reset: undefined },
}

/** Sends one request and waits for its end, or leaves. Never throws: a failure is an answer. */
export async function sendOne(
  gateway: TestGateway,
  client: ReturnType<typeof createClient>,
  kind: string,
  draw: Draw,
): Promise<number | undefined> {
  const asked = (kinds[kind] as (typeof kinds)[string])[1](draw)
  const { text, more = {}, leavesAt, credits } = asked
  const stream = (more.stream as boolean | undefined) ?? (kind !== 'leftPlain' && draw() < 0.5)
  const own = credits === undefined ? client : await clientOf(gateway, credits)
  const body = question(text, { max_tokens: 20_000, ...more, stream })
  const sent = own.send({ body })
  let status: number | undefined
  if (leavesAt === undefined) status = (await sent.answer.catch(() => undefined))?.status
  else {
    if (leavesAt > 0) await sent.until((bytes) => bytes.length >= leavesAt).catch(() => undefined)
    else await new Promise((resolve) => setTimeout(resolve, 30))
    sent.disconnect()
  }
  if (own !== client) own.end()
  return status
}

async function clientOf(gateway: TestGateway, credits: number) {
  const { key } = await gateway.account(credits)
  return createClient(gateway.url, key)
}
