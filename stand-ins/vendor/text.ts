// Generates words and counts them. One output token is a run of whitespace plus up to eight
// following characters, so that every generated word is exactly one token, `[[reply: text 200]]`
// has exactly 200, and a stream sends one token per delta.

const words = (
  'amber basin cedar delta ember fjord grove harbor inlet jasper kelp lagoon maple north ' +
  'ocean pine quartz river stone tundra umber valley willow yarrow zephyr'
).split(' ')

// Characters of two, three and four bytes, a joined emoji, a combining accent: a relay that
// cuts them in the wrong place breaks them.
const wideWords = [
  'привет',
  '日本語',
  '😀',
  'naïve',
  '👩‍🚀',
  '€',
  '𝒳𝒴',
  'e\u0301tude',
  '한국어',
  '🏳️‍🌈',
]

const tokenPattern = /\s*\S{1,8}|\s+$/gu

// Above this size a text is filler for volume tests: it is counted by arithmetic and sent in
// large slices, because ten million matches would cost more than the transfer they imitate.
const fillerCharsMin = 262_144
const fillerSliceChars = 16_384

/** A repeatable stream of numbers below 1 (mulberry32), the same on every platform. */
export function createDice(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** FNV-1a: a cheap number that depends on every character. */
export function numberOf(text: string): number {
  let sum = 0x811c9dc5
  for (let at = 0; at < text.length; at += 1) {
    sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193)
  }
  return sum >>> 0
}

/** A text of exactly this many tokens. */
export function writeText(seed: number, tokens: number, kind: 'plain' | 'wide' = 'plain'): string {
  const choice = kind === 'plain' ? words : wideWords
  const dice = createDice(seed)
  const chosen: string[] = []
  for (let count = 0; count < tokens; count += 1) {
    const word = choice[Math.floor(dice() * choice.length)] ?? ''
    chosen.push(count % 12 === 11 ? `${word}.` : word)
  }
  return chosen.join(' ')
}

/** Plain filler of exactly this many bytes. */
export function writeFiller(bytes: number): string {
  return ' filling'.repeat(Math.ceil(bytes / 8)).slice(0, bytes)
}

export function countTokens(text: string): number {
  if (text.length > fillerCharsMin) return Math.ceil(text.length / 8)
  return text.match(tokenPattern)?.length ?? 0
}

/** The first tokens of a text. */
export function takeTokens(text: string, tokens: number): string {
  return (text.match(tokenPattern) ?? []).slice(0, tokens).join('')
}

/** The text as a stream sends it, generated lazily. */
export function* deltasOf(text: string): Generator<string> {
  if (text.length > fillerCharsMin) {
    for (let at = 0; at < text.length; at += fillerSliceChars) {
      yield text.slice(at, at + fillerSliceChars)
    }
    return
  }
  for (const match of text.matchAll(tokenPattern)) yield match[0]
}
