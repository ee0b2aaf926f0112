// Typical work as tokens, for the prices on the front page. The numbers of tokens are round figures
// of real requests; what they cost is computed from the catalogue.
import type { ModelPrice } from '../../../src/cabinet/contract/prices.ts'
import { requestCost } from '../prices/estimate.ts'

export type Work = {
  readonly id: 'question' | 'document' | 'dialogue' | 'letters' | 'agent'
  /** Each differs in its tokens, so that each gets the price list of its own length. */
  readonly requests: readonly Tokens[]
}

type Tokens = {
  readonly input: bigint
  readonly output: bigint
  readonly cacheRead: bigint
  readonly cacheWrite: bigint
}

const none = { input: 0n, output: 0n, cacheRead: 0n, cacheWrite: 0n }

/** Ten turns: every question carries all that was said before it. */
const TURNS = 10
/** Tokens of a question and of an answer: a paragraph or two. */
const QUESTION = 250n
const ANSWER = 350n
/** An agent in a terminal: a request a minute, nearly all of which is read from the cache. */
const AGENT_REQUESTS = 60

export const works: readonly Work[] = [
  { id: 'question', requests: [{ ...none, input: 300n, output: 400n }] },
  // Twenty pages of some 800 tokens.
  { id: 'document', requests: [{ ...none, input: 16_000n, output: 800n }] },
  {
    id: 'dialogue',
    requests: Array.from({ length: TURNS }, (_, turn) => ({
      ...none,
      input: QUESTION * BigInt(turn + 1) + ANSWER * BigInt(turn),
      output: ANSWER,
    })),
  },
  {
    id: 'letters',
    requests: Array.from({ length: 1_000 }, () => ({ ...none, input: 400n, output: 20n })),
  },
  {
    id: 'agent',
    requests: Array.from({ length: AGENT_REQUESTS }, () => ({
      input: 500n,
      output: 700n,
      cacheRead: 60_000n,
      cacheWrite: 2_000n,
    })),
  },
]

/** What a piece of work costs with a model, in microcredits. */
export function workCost(model: ModelPrice, { requests }: Work): bigint {
  return requests.reduce((sum, tokens) => sum + requestCost(model, tokens), 0n)
}
