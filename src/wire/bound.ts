// Computes the most input tokens that a request can cost, which must be held before it goes
// upstream. The bound is never too low for one pass of the model, and never above its context
// window, because longer prompts are refused without a charge. It lists features that run more than
// one pass; the gateway decides whether to accept them.

import { isAscii } from 'node:buffer'
import { type Tokens, tokens } from '../units/tokens.ts'
import { IMAGE_TOKENS_MAX, imageTokensMax } from './image.ts'
import type { ByteRange, InputShape, UnboundedFeature } from './shape.ts'

export type InputBound = {
  readonly inputBound: Tokens
  /** Features whose passes may add up to more than `inputBound`; empty for an ordinary request. */
  readonly unbounded: readonly UnboundedFeature[]
}

// Tokens of the prompts that the vendor adds, rounded up from its documentation or published
// measurements: 804 for having tools at all, 735 + 499 for the largest vendor-typed tool. For the
// last two constants there is no measurement.
const TOOLS_TOKENS = 1_024
const TYPED_TOOL_TOKENS = 1_536
const HIDDEN_TOOL_TOKENS = 8_192
const OUTPUT_FORMAT_TOKENS = 1_024

/**
 * Bounds the input of a request read by request.ts. The framing of messages needs no addition: 6-8
 * tokens each, less than the JSON around them, which is counted as if it were text.
 */
export function boundInput(shape: InputShape, body: Buffer, window: Tokens): InputBound {
  const { unbounded } = shape
  if (shape.isOpaque) return { inputBound: window, unbounded }
  const cap = Number(window)
  const images = shape.images.toSorted((a, b) => a.start - b.start)
  let bound = additions(shape) + textBytes(shape)
  for (const image of images) {
    if (bound >= cap) break
    bound += imageTokensMax(body, image)
  }
  if (bound < cap) bound += normalisationGrowth(body, images)
  return { inputBound: bound < cap ? tokens(bound) : window, unbounded }
}

/** How far a count may be off: the vendor calls it an estimate. */
const COUNT_MARGIN_PERCENT = 5n

/** The bound by a count of the upstream: never above the one by bytes. */
export function boundByCount(shape: InputShape, count: number, inputBound: Tokens): Tokens {
  const counted = BigInt(count)
  const margin = (counted * COUNT_MARGIN_PERCENT + 99n) / 100n
  const bound = counted + margin + BigInt(additions(shape))
  return bound < inputBound ? tokens(bound) : inputBound
}

/**
 * Whether count_tokens sees everything that the model will read. The vendor refuses to count server
 * tools and content that it would have to fetch; a container is no member of that endpoint.
 */
export function isCountable({ isOpaque, linkedImages, unbounded }: InputShape): boolean {
  return !isOpaque && linkedImages === 0 && unbounded.length === 0
}

function additions(shape: InputShape): number {
  return (
    (shape.tools > 0 ? TOOLS_TOKENS : 0) +
    shape.typedTools * TYPED_TOOL_TOKENS +
    shape.hiddenTools * HIDDEN_TOOL_TOKENS +
    shape.linkedImages * IMAGE_TOKENS_MAX +
    (shape.hasOutputFormat ? OUTPUT_FORMAT_TOKENS : 0)
  )
}

// A token covers at least one byte, and escaped text is never shorter than the text it stands for.
function textBytes(shape: InputShape): number {
  let bytes = shape.bodyBytes
  for (const { start, end } of shape.images) bytes -= end - start
  return bytes
}

// The vendor's published tokenizer applies NFKC first, which can lengthen text elevenfold (U+FDFA):
// tokens are bounded by the longer of the two byte counts. That takes 70 µs for 53 KB of Russian.
// ASCII pieces are skipped: an ASCII body takes 14 µs, all spent on the search for escapes.
const PIECE_BYTES = 4_096

function normalisationGrowth(body: Buffer, images: readonly ByteRange[]): number {
  const hasEscapes = body.includes('\\u')
  if (!hasEscapes && isAscii(body)) return 0
  let growth = 0
  let start = 0
  for (const image of images) {
    growth += textGrowth(body.subarray(start, image.start), hasEscapes)
    start = image.end
  }
  growth += textGrowth(body.subarray(start), hasEscapes)
  return Math.max(0, growth)
}

function textGrowth(text: Buffer, hasEscapes: boolean): number {
  let growth = 0
  let start = 0
  while (start < text.length) {
    let end = Math.min(start + PIECE_BYTES, text.length)
    while (end < text.length && !isSeam(text[end])) end += 1
    growth += pieceGrowth(text.subarray(start, end), hasEscapes)
    start = end
  }
  return growth
}

// Text may be cut before a space, a quote or a backslash: NFKC composes no characters across that
// point, and no escape is cut in two.
function isSeam(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x22 || byte === 0x5c
}

function pieceGrowth(piece: Buffer, hasEscapes: boolean): number {
  let growth = 0
  if (!isAscii(piece)) {
    growth += Buffer.byteLength(piece.toString('utf8').normalize('NFKC')) - piece.length
  }
  if (hasEscapes) growth += escapeGrowth(piece.toString('latin1'))
  return growth
}

// Escapes that may become more bytes after normalisation than the six they are written with.
// Surrogate pairs never do. Hangul is left out: NFKC decomposes and recomposes it.
const GROWING_ESCAPE =
  /\\u(?:0cc|0dd|0f7|1f[89a]|20[35]|22[23]|2a0|32[017]|33[0-57a]|fdf)[0-9a-f]/gi

function escapeGrowth(text: string): number {
  let growth = 0
  for (const [written] of text.matchAll(GROWING_ESCAPE)) {
    const character = String.fromCharCode(Number.parseInt(written.slice(2), 16))
    growth += Math.max(0, Buffer.byteLength(character.normalize('NFKD')) - written.length)
  }
  return growth
}
