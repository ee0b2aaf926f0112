// How far a balance goes, in turns of a coding agent. A turn is a fixed example, not a measurement:
// the same number of tokens for every model and account, so that models can be compared.
import { costOfTokens } from '../units/charge.ts'
import type { Credits } from '../units/credits.ts'
import { type TokenCounts, tokens } from '../units/tokens.ts'
import { listOfReply } from './lists.ts'
import type { Model } from './model-schema.ts'

/**
 * The conversation so far is read from the cache, what is new is written to it, and the reply is
 * half a page or a tool call. docs/charging.md publishes these numbers.
 */
export const exampleTurn: TokenCounts = {
  input: tokens(200),
  output: tokens(500),
  cacheRead: tokens(20_000),
  cacheWrite5m: tokens(1_000),
  cacheWrite1h: tokens(0),
}

const PROMPT = tokens(exampleTurn.input + exampleTurn.cacheRead + exampleTurn.cacheWrite5m)

/** Whole turns that the credits cover at ordinary speed; 0 when they do not cover one. */
export function turnsAffordable({ lists }: Model, available: Credits): bigint {
  const { list } = listOfReply(lists, PROMPT, {})
  // Output is never free, so a turn costs something.
  return available / costOfTokens(exampleTurn, list.price)
}
