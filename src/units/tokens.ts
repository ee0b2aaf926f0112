// Tokens: what a model reads and writes, counted by the upstream. A token is never money: it
// becomes credits only through a price.

declare const tokensBrand: unique symbol
export type Tokens = bigint & { readonly [tokensBrand]: true }

/** Names a whole, non-negative number of tokens. */
export function tokens(count: bigint | number): Tokens {
  const value = BigInt(count)
  if (value < 0n) throw new RangeError(`${value} tokens is below zero`)
  return value as Tokens
}

/** The counts a reply reports; cached tokens are not part of `input`. */
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
