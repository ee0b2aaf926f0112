// 256 requests at once against a balance for exactly 100, plain and streamed, with tools of the
// client and, in every second pair of rounds, with a web search that may be used once. In every
// round exactly 100 are admitted and the rest get 402; the balance is never negative and ends at
// the exact remainder. In half of the rounds a reply costs its whole hold, so no credits are
// released; in the others it costs less, and the upstream answers only after the ledger has decided
// all 256.
import { setTimeout as delay } from 'node:timers/promises'
import type { BookId } from '../../src/platform/ids.ts'
import { credits } from '../../src/units/credits.ts'
import { createTestGateway, type TestGateway } from '../stages/gateway.ts'
import type { Drill } from '../support/drill.ts'
import { ensure, percentile } from '../support/drill.ts'

const REQUESTS = 256
const ADMITTED = 100
const OUTPUT_TOKENS = 20
/** What an output token of the example catalogue costs. */
const COEFFICIENT = 5
/** What the gateway adds to the input of a request that has tools, and for each server tool. */
const TOOLS_TOKENS = 1_024
const SERVER_TOOL_TOKENS = 8_192
const PER_SEARCH = 500
const CONTENT_MAX = 3_000
const clientTools = [
  { name: 'read', description: 'Reads a file', input_schema: { type: 'object' } },
  { name: 'write', description: 'Writes a file', input_schema: { type: 'object' } },
]
const search = { type: 'web_search_20250305', name: 'web_search', max_uses: 1 }

const catalogueText = `
models:
  - id: model-small
    displayName: Small
    createdAt: 2026-01-15
    contextWindow: 200000
    outputCeiling: 32000
    coefficient: ${COEFFICIENT}
    weights: { cacheRead: 0.1, cacheWrite5m: 1.25, cacheWrite1h: 2 }
    features:
      web_search:
        { iterationsMax: 5, perUse: ${PER_SEARCH}, usesMax: 4, contentMax: ${CONTENT_MAX} }
packs: []
`
/** 256 decisions take about 150 ms; a round in which they take longer than this is repeated. */
const SLOW_MS = 1_500

type Answer = { readonly status: number; readonly atMs: number; readonly text: string }
type Round = {
  readonly kind: 'all of it' | 'less'
  /** Credits beyond those for 100 requests: too few for one more. */
  readonly spare: number
  readonly hasSearch: boolean
}

export const drill: Drill = async ({ isFull, say }) => {
  const rounds = isFull ? 100 : 5
  const gateway = await createTestGateway({ catalogueText })
  const decidedMs: number[] = []
  let repeated = 0
  let charged = 0n
  try {
    for (let i = 0; i < rounds; i++) {
      const kind = i % 2 === 0 ? 'all of it' : 'less'
      const round: Round = { kind, spare: i % 3, hasSearch: i % 4 >= 2 }
      let played = await play(gateway, round)
      while (!played.isDecidedFirst && repeated < rounds) {
        repeated += 1
        played = await play(gateway, round)
      }
      ensure(played.isDecidedFirst, 'all requests are decided before a hold is released')
      decidedMs.push(played.decidedMs)
      charged += played.charged
      if (i % 20 === 19) say(`${i + 1} rounds`)
    }
    const findings = await gateway.ledger.audit('all')
    ensure(
      findings.length === 0,
      `the audit is empty (${findings[0]?.rule} ${findings[0]?.detail})`,
    )
    return {
      rounds,
      requests: rounds * REQUESTS,
      admitted: rounds * ADMITTED,
      refused: rounds * (REQUESTS - ADMITTED),
      repeated,
      chargedMicrocredits: charged,
      decidedMsMedian: Math.round(percentile(decidedMs, 0.5)),
      findings: findings.length,
    }
  } finally {
    await gateway.end()
  }
}

/** The most that a request can cost, and the usage of a reply that costs as much. */
function worstOf(bytes: number, hasSearch: boolean) {
  // The body is ASCII, so its upper bound of input tokens is its number of bytes, and what the
  // vendor may add for tools.
  const bound = bytes + TOOLS_TOKENS + (hasSearch ? SERVER_TOOL_TOKENS : 0)
  if (!hasSearch) {
    const usage = `usage-input=${bound} usage-output=${OUTPUT_TOKENS}`
    return { worst: bound + OUTPUT_TOKENS * COEFFICIENT, usage }
  }
  // Three passes: one asks for the search, one would ask in vain, one answers. The later two read
  // the result and what was written before.
  const input = 3 * bound + 2 * CONTENT_MAX + (1 + 2) * OUTPUT_TOKENS
  const output = 3 * OUTPUT_TOKENS
  const uses = '{"server_tool_use":{"web_search_requests":1}}'
  const usage = `usage-input=${input} usage-output=${output} usage-members=${uses}`
  return { worst: input + output * COEFFICIENT + PER_SEARCH, usage }
}

async function play(gateway: TestGateway, { kind, spare, hasSearch }: Round) {
  const bodies = [bodyOf(false, hasSearch), bodyOf(true, hasSearch)]
  const { worst, usage } = worstOf(Buffer.byteLength(bodies[0] ?? ''), hasSearch)
  gateway.vendor.clear()
  gateway.vendor.mode({ fault: kind === 'less' ? `headers-ms=${SLOW_MS}` : usage })
  const funded = ADMITTED * worst + spare
  const { book, key } = await gateway.account(funded)

  const watch = watchBook(gateway, book)
  const startedMs = performance.now()
  const answers = await Promise.all(
    Array.from({ length: REQUESTS }, (_, i) => ask(gateway.url, key, bodies[i % 2] ?? '')),
  )
  await watch.stop()

  const admitted = answers.filter((one) => one.status === 200)
  const refused = answers.filter((one) => one.status === 402)
  const statuses = `${admitted.length} admitted, ${refused.length} refused of ${REQUESTS}`
  const lastNoMs = Math.max(...refused.map((one) => one.atMs))
  const firstYesMs = Math.min(...admitted.map((one) => one.atMs))
  const isDecidedFirst = kind === 'all of it' || lastNoMs < firstYesMs
  if (isDecidedFirst) {
    ensure(admitted.length === ADMITTED, `exactly ${ADMITTED} are admitted (${statuses})`)
    ensure(refused.length === REQUESTS - ADMITTED, `the rest are refused (${statuses})`)
  }
  for (const { text } of refused)
    ensure(/billing_error/.test(text), `a 402 has the type billing_error (${text})`)
  for (const { text } of admitted) ensure(/end_turn|max_tokens/.test(text), 'a reply is complete')

  const charges = await chargesOf(gateway, book)
  ensure(charges.length === admitted.length, 'exactly the admitted requests are charged, once each')
  const expected = gateway.vendor.requests.map(({ usage: used }) =>
    credits(
      (used?.input_tokens ?? 0) +
        (used?.output_tokens ?? 0) * COEFFICIENT +
        (used?.server_tool_use?.web_search_requests ?? 0) * PER_SEARCH,
    ),
  )
  const charged = sum(charges)
  ensure(charged === sum(expected), `the charges are what the upstream reported (${charged})`)
  if (kind === 'all of it' && isDecidedFirst) {
    ensure(charged === credits(ADMITTED * worst), 'each request cost its whole hold')
  }
  const after = await gateway.ledger.balance(book)
  const remainder = credits(funded) - charged
  ensure(after?.available === remainder, `the exact remainder is left (${after?.available})`)
  ensure(after.held === 0n && after.debt === 0n, 'no credits are held or owed')
  return { isDecidedFirst, decidedMs: lastNoMs - startedMs, charged }
}

/** Both have the same length: a space makes up for the shorter `true`. */
function bodyOf(isStream: boolean, hasSearch: boolean): string {
  const tools = JSON.stringify(hasSearch ? [...clientTools, search] : clientTools)
  const request = `{"model":"model-small","max_tokens":${OUTPUT_TOKENS},"stream":${isStream}`
  const messages = '[{"role":"user","content":"Hello"}]'
  return `${request}${isStream ? ' ' : ''},"tools":${tools},"messages":${messages}}`
}

async function ask(url: string, key: string, body: string): Promise<Answer> {
  const headers = {
    'content-type': 'application/json',
    'x-api-key': key,
    'x-credit-clamp': 'off',
  }
  const response = await fetch(`${url}/v1/messages`, { method: 'POST', headers, body })
  const atMs = performance.now()
  const balance = response.headers.get('x-credit-balance')
  ensure(balance === null || Number(balance) >= 0, `no balance is negative (${balance})`)
  return { status: response.status, atMs, text: await response.text() }
}

/** Checks the book every 5 ms during the race. */
function watchBook({ ledger }: TestGateway, book: BookId) {
  const state = { isOver: false }
  const watching = (async () => {
    while (!state.isOver) {
      const seen = await ledger.balance(book)
      const isSound = seen !== undefined && seen.available >= 0n && seen.held >= 0n
      ensure(isSound && seen.debt === 0n, `the book is never negative (${seen?.available})`)
      await delay(5)
    }
  })()
  watching.catch(() => undefined) // thrown by stop
  return {
    stop() {
      state.isOver = true
      return watching
    },
  }
}

async function chargesOf(gateway: TestGateway, book: BookId): Promise<bigint[]> {
  const entries = await gateway.statement(book)
  return entries.filter((one) => one.kind === 'charge').map((one) => -one.amount)
}

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, one) => total + one, 0n)
}
