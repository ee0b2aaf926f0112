// 256 requests at once against a balance for exactly 100, plain and streamed. Exactly 100 are
// admitted and the rest get 402, every time; the balance is never negative and ends at the exact
// remainder. In one half of the rounds a reply costs all that is held for it, so that nothing is
// given back; in the other it costs less, and the upstream waits until everybody has been decided.
import { setTimeout as delay } from 'node:timers/promises'
import type { BookId } from '../../src/platform/ids.ts'
import { credits } from '../../src/units/credits.ts'
import { createTestGateway, type TestGateway } from '../stages/gateway.ts'
import type { Fault } from '../support/fault.ts'
import { hold, percentile } from '../support/fault.ts'

const REQUESTS = 256
const ADMITTED = 100
const OUTPUT_TOKENS = 20
/** What an output token of the example catalogue costs. */
const COEFFICIENT = 5
/** 256 decisions take some 150 ms; a round in which they took longer than this is played again. */
const SLOW_MS = 1_500

type Answer = { readonly status: number; readonly atMs: number; readonly text: string }
type Round = {
  readonly kind: 'all of it' | 'less'
  /** Credits beyond those for 100 requests: too few for one more. */
  readonly spare: number
}

export const fault: Fault = async ({ isFull, say }) => {
  const rounds = isFull ? 100 : 5
  const gateway = await createTestGateway()
  const decidedMs: number[] = []
  let repeated = 0
  let charged = 0n
  try {
    for (let i = 0; i < rounds; i++) {
      const kind = i % 2 === 0 ? 'all of it' : 'less'
      let played = await play(gateway, { kind, spare: i % 3 })
      while (!played.isDecidedFirst && repeated < rounds) {
        repeated += 1
        played = await play(gateway, { kind, spare: i % 3 })
      }
      hold(played.isDecidedFirst, 'everybody is decided before anything is given back')
      decidedMs.push(played.decidedMs)
      charged += played.charged
      if (i % 20 === 19) say(`${i + 1} rounds`)
    }
    const findings = await gateway.ledger.audit('all')
    hold(findings.length === 0, `the audit is empty (${findings[0]?.rule} ${findings[0]?.detail})`)
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

async function play(gateway: TestGateway, { kind, spare }: Round) {
  const bodies = [bodyOf(false), bodyOf(true)]
  const inputBound = Buffer.byteLength(bodies[0] ?? '')
  // Plain ASCII: the bound of the input is the bytes of the body.
  const worst = inputBound + OUTPUT_TOKENS * COEFFICIENT
  const usage = `usage-input=${inputBound} usage-output=${OUTPUT_TOKENS}`
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
    hold(admitted.length === ADMITTED, `exactly ${ADMITTED} are admitted (${statuses})`)
    hold(refused.length === REQUESTS - ADMITTED, `the rest are refused (${statuses})`)
  }
  for (const { text } of refused) hold(/billing_error/.test(text), `a 402 says why (${text})`)
  for (const { text } of admitted) hold(/end_turn|max_tokens/.test(text), 'a reply is whole')

  const charges = await chargesOf(gateway, book)
  hold(charges.length === admitted.length, 'each admitted request is charged once, and no other')
  const expected = gateway.vendor.requests.map(({ usage: used }) =>
    credits((used?.input_tokens ?? 0) + (used?.output_tokens ?? 0) * COEFFICIENT),
  )
  const charged = sum(charges)
  hold(charged === sum(expected), `the charges are what the upstream reported (${charged})`)
  if (kind === 'all of it' && isDecidedFirst) {
    hold(charged === credits(ADMITTED * worst), 'each cost all that was held for it')
  }
  const after = await gateway.ledger.balance(book)
  const remainder = credits(funded) - charged
  hold(after?.available === remainder, `the exact remainder is left (${after?.available})`)
  hold(after.held === 0n && after.debt === 0n, 'nothing is held or owed')
  return { isDecidedFirst, decidedMs: lastNoMs - startedMs, charged }
}

/** The same number of bytes for both: the one has a space where the other has a letter. */
function bodyOf(isStream: boolean): string {
  const request = `{"model":"model-small","max_tokens":${OUTPUT_TOKENS},"stream":${isStream}`
  return `${request}${isStream ? ' ' : ''},"messages":[{"role":"user","content":"Hello"}]}`
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
  hold(balance === null || Number(balance) >= 0, `no balance is negative (${balance})`)
  return { status: response.status, atMs, text: await response.text() }
}

/** Looks at the book again and again while the race is on. */
function watchBook({ ledger }: TestGateway, book: BookId) {
  const state = { isOver: false }
  const watching = (async () => {
    while (!state.isOver) {
      const seen = await ledger.balance(book)
      const isSound = seen !== undefined && seen.available >= 0n && seen.held >= 0n
      hold(isSound && seen.debt === 0n, `the book is never negative (${seen?.available})`)
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
