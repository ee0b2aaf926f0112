// Tokens: what a model reads and writes, counted by the upstream. Only a price converts tokens to
// credits.

declare const tokensBrand: unique symbol
export type Tokens = bigint & { readonly [tokensBrand]: true }

/** Converts a number to the type Tokens; throws below zero and for fractions. */
export function tokens(count: bigint | number): Tokens {
  const value = BigInt(count)
  if (value < 0n) throw new RangeError(`${value} tokens is below zero`)
  return value as Tokens
}

/** The counts that a reply reports; cached tokens are not part of `input`. */
export type TokenCounts = {
  readonly input: Tokens
  readonly output: Tokens
  readonly cacheRead: Tokens
  readonly cacheWrite5m: Tokens
  readonly cacheWrite1h: Tokens
}

export const noTokens: TokenCounts = {
  input: 0n as Tokens,
  output: 0n as Tokens,
  cacheRead: 0n as Tokens,
  cacheWrite5m: 0n as Tokens,
  cacheWrite1h: 0n as Tokens,
}
