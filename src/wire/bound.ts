// The most input tokens a request can cost: what must be held before it goes upstream. Never too
// low for one pass of the model; never above its context window, since longer prompts are refused
// unbilled. Names the features for which one pass is not all; whether to take them is not decided
// here.

import { isAscii } from 'node:buffer'
import { type Tokens, tokens } from '../units/tokens.ts'
import type { InputShape, Place, UnboundedFeature } from './content.ts'
import { IMAGE_TOKENS_MAX, imageTokensMax } from './image.ts'

export type InputBound = {
  readonly inputBound: Tokens
  /** Features whose passes may add up to more than `inputBound`; empty for an ordinary request. */
  readonly unbounded: readonly UnboundedFeature[]
}

// Hidden prompts, rounded up from what the vendor documents or others measured: 804 for having
// tools at all, 735 + 499 for the largest vendor-typed tool; the other two nobody has measured.
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

function additions(shape: InputShape): number {
  return (
    (shape.tools > 0 ? TOOLS_TOKENS : 0) +
    shape.typedTools * TYPED_TOOL_TOKENS +
    shape.hiddenTools * HIDDEN_TOOL_TOKENS +
    shape.linkedImages * IMAGE_TOKENS_MAX +
    (shape.hasOutputFormat ? OUTPUT_FORMAT_TOKENS : 0)
  )
}

// A token covers at least one byte, and escaped text is never shorter than what it denotes.
function textBytes(shape: InputShape): number {
  let bytes = shape.bodyBytes
  for (const { start, end } of shape.images) bytes -= end - start
  return bytes
}

// The vendor's published tokenizer applies NFKC first, which can lengthen text elevenfold (U+FDFA):
// tokens are bounded by the longer of the two byte counts. 53 KB of Russian take 70 µs, so ASCII
// pieces are passed over: a body without other characters takes 14 µs, all for finding no escapes.
const PIECE_BYTES = 4_096

function normalisationGrowth(body: Buffer, images: readonly Place[]): number {
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

// Nothing composes across the front of a space, a quote or a backslash, and no escape is cut there.
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

// The escapes that may denote more bytes after normalisation than the six they are written with.
// Surrogate pairs never do. Hangul is left out: it comes apart and together again.
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
