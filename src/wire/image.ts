// How many tokens an image carried in a request can cost at most, read from its header. Leaves out
// what would need decoding: an unknown size costs the flat maximum.

import type { Place } from './content.ts'

// The vendor counts patches of 28 by 28 pixels after scaling down; the high-resolution tier stops
// at 4784. Large images were seen 28 above their documented maximum, hence a margin of 128.
const PATCH_PIXELS = 28
const PATCHES_MAX = 4_784
const MARGIN_TOKENS = 128

/** For an image whose size is unknown: 4784 + 128, rounded up. */
export const IMAGE_TOKENS_MAX = 5_000

// 48 characters hold a PNG's header. A JPEG's size comes after its comments and thumbnail, which
// 16 KiB usually cover; if not, the flat maximum stands.
const PNG_HEADER_CHARS = 48
const JPEG_HEADER_CHARS = 16_384

/** `place` is the base64 text of the image in the body. */
export function imageTokensMax(body: Buffer, place: Place): number {
  const size = pngSize(decode(body, place, PNG_HEADER_CHARS)) ?? jpegSizeIn(body, place)
  if (size === undefined || size.width === 0 || size.height === 0) return IMAGE_TOKENS_MAX
  const patches = Math.ceil(size.width / PATCH_PIXELS) * Math.ceil(size.height / PATCH_PIXELS)
  return Math.min(patches, PATCHES_MAX) + MARGIN_TOKENS
}

type Size = { readonly width: number; readonly height: number }

// Node's decoder passes over the backslashes of `\/`, as some clients write a slash.
function decode(body: Buffer, { start, end }: Place, charsMax: number): Buffer {
  return Buffer.from(body.toString('latin1', start, Math.min(end, start + charsMax)), 'base64')
}

const PNG_SIGNATURE = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')

function pngSize(head: Buffer): Size | undefined {
  if (head.length < 24 || !head.subarray(0, 16).equals(PNG_SIGNATURE)) return undefined
  return { width: head.readUInt32BE(16), height: head.readUInt32BE(20) }
}

// GIF and WebP are not read: a frame may be larger than the canvas their header names.
function jpegSizeIn(body: Buffer, place: Place): Size | undefined {
  if (body.toString('latin1', place.start, place.start + 3) !== '/9j') return undefined
  return jpegSize(decode(body, place, JPEG_HEADER_CHARS))
}

function jpegSize(head: Buffer): Size | undefined {
  let at = 2
  while (at + 9 <= head.length && head[at] === 0xff) {
    const marker = head[at + 1] ?? 0
    if (isFrameHeader(marker)) {
      return { height: head.readUInt16BE(at + 5), width: head.readUInt16BE(at + 7) }
    }
    at += 2 + head.readUInt16BE(at + 2)
  }
  return undefined
}

// SOF0 to SOF15 without the three tables that share their range.
function isFrameHeader(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
}
