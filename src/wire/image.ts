// The most tokens that an image in a request can cost, computed from the size in its header. Images
// are not decoded: one whose size is not found costs the flat maximum.

import type { ByteRange } from './shape.ts'

// The vendor counts patches of 28 by 28 pixels after scaling down; the high-resolution tier stops
// at 4784. Large images were seen 28 above their documented maximum, hence a margin of 128.
const PATCH_PIXELS = 28
const PATCHES_MAX = 4_784
const MARGIN_TOKENS = 128

/** For an image whose size is unknown: 4784 + 128, rounded up. */
export const IMAGE_TOKENS_MAX = 5_000

// 48 characters hold a PNG's header. A JPEG's size follows its comments and thumbnail, for which 16
// KiB are usually enough; if not, the flat maximum applies.
const PNG_HEADER_CHARS = 48
const JPEG_HEADER_CHARS = 16_384

/** `range` is the base64 text of the image in the body. */
export function imageTokensMax(body: Buffer, range: ByteRange): number {
  const size = pngSize(decode(body, range, PNG_HEADER_CHARS)) ?? jpegSizeIn(body, range)
  if (size === undefined || size.width === 0 || size.height === 0) return IMAGE_TOKENS_MAX
  const patches = Math.ceil(size.width / PATCH_PIXELS) * Math.ceil(size.height / PATCH_PIXELS)
  return Math.min(patches, PATCHES_MAX) + MARGIN_TOKENS
}

type Size = { readonly width: number; readonly height: number }

// Node's decoder skips the backslash of `\/`, which some clients write for a slash.
function decode(body: Buffer, { start, end }: ByteRange, charsMax: number): Buffer {
  return Buffer.from(body.toString('latin1', start, Math.min(end, start + charsMax)), 'base64')
}

const PNG_SIGNATURE = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')

function pngSize(head: Buffer): Size | undefined {
  if (head.length < 24 || !head.subarray(0, 16).equals(PNG_SIGNATURE)) return undefined
  return { width: head.readUInt32BE(16), height: head.readUInt32BE(20) }
}

// The headers of GIF and WebP are not used: a frame may be larger than the canvas they name.
function jpegSizeIn(body: Buffer, range: ByteRange): Size | undefined {
  if (body.toString('latin1', range.start, range.start + 3) !== '/9j') return undefined
  return jpegSize(decode(body, range, JPEG_HEADER_CHARS))
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
