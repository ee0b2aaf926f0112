// Measures what a content_block_delta adds to the reply: the bytes of its text, thinking,
// partial_json and signature strings after unescaping, with ASCII bytes and others counted
// separately. It scans the raw line in one pass and can stop at any byte, so that only a few
// numbers are kept between chunks.
//
// An escape counts as the character it stands for: `\n` one ASCII byte, `\u0436` two other bytes,
// each half of a surrogate pair two.

/** Totals, and the state of the scan inside the current line. */
export type PayloadCount = {
  asciiBytes: number
  otherBytes: number
  state: number
  isValue: boolean
  nameHash: number
  /** 0 outside an escape, 1 after its backslash, 5 to 2 before each of the four digits. */
  escape: number
  code: number
  /** Payload strings in the current record, and the offsets of the last one in its chunk. */
  strings: number
  stringStart: number
  stringEnd: number
}

const OUTSIDE = 0
const NAME = 1
const VALUE = 2
const PAYLOAD = 3

const LF = 0x0a
const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_ARRAY = 0x5b
const BACKSLASH = 0x5c
const LETTER_U = 0x75
const OPEN_OBJECT = 0x7b

// Names are recognised by a running hash, so that a name cut between chunks needs no buffer.
const TEXT = hash('text')
const THINKING = hash('thinking')
const PARTIAL_JSON = hash('partial_json')
const SIGNATURE = hash('signature')

function hash(name: string): number {
  let value = 0
  for (const byte of Buffer.from(name)) value = (value * 31 + byte) | 0
  return value
}

export function noPayload(): PayloadCount {
  return {
    asciiBytes: 0,
    otherBytes: 0,
    state: OUTSIDE,
    isValue: false,
    nameHash: 0,
    escape: 0,
    code: 0,
    strings: 0,
    stringStart: 0,
    stringEnd: 0,
  }
}

/**
 * Continues counting at `start`; returns the offset after the line, or -1 if the chunk ends first.
 */
export function countLine(count: PayloadCount, bytes: Buffer, start: number): number {
  let at = start
  while (at < bytes.length) {
    const byte = bytes[at] ?? 0
    if (byte === LF) {
      // A line end resets the state even inside a broken string, so that the next record is
      // counted.
      count.state = OUTSIDE
      count.isValue = false
      count.escape = 0
      return at + 1
    }
    if (count.escape > 0) {
      countEscape(count, byte)
      at += 1
    } else if (count.state === OUTSIDE) {
      scanOutside(count, byte, at)
      at += 1
    } else if (byte === QUOTE) {
      if (count.state === PAYLOAD) count.stringEnd = at
      count.state = OUTSIDE
      at += 1
    } else if (byte === BACKSLASH) {
      count.escape = 1
      at += 1
    } else at = count.state === NAME ? hashName(count, bytes, at) : scanString(count, bytes, at)
  }
  return -1
}

function scanOutside(count: PayloadCount, byte: number, at: number): void {
  if (byte === QUOTE) {
    if (!count.isValue) {
      count.state = NAME
      count.nameHash = 0
    } else if (isPayloadName(count.nameHash)) {
      count.state = PAYLOAD
      count.strings += 1
      count.stringStart = at + 1
    } else count.state = VALUE
    count.isValue = false
  } else if (byte === COLON) count.isValue = true
  else if (byte === COMMA || byte === OPEN_OBJECT || byte === OPEN_ARRAY) count.isValue = false
}

function isPayloadName(nameHash: number): boolean {
  return (
    nameHash === TEXT ||
    nameHash === PARTIAL_JSON ||
    nameHash === THINKING ||
    nameHash === SIGNATURE
  )
}

function hashName(count: PayloadCount, bytes: Buffer, start: number): number {
  let at = start
  let value = count.nameHash
  while (at < bytes.length) {
    const byte = bytes[at] ?? 0
    if (byte === QUOTE || byte === BACKSLASH || byte === LF) break
    value = (value * 31 + byte) | 0
    at += 1
  }
  count.nameHash = value
  return at
}

function scanString(count: PayloadCount, bytes: Buffer, start: number): number {
  let at = start
  let other = 0
  while (at < bytes.length) {
    const byte = bytes[at] ?? 0
    if (byte === QUOTE || byte === BACKSLASH || byte === LF) break
    other += byte >> 7
    at += 1
  }
  if (count.state === PAYLOAD) {
    count.asciiBytes += at - start - other
    count.otherBytes += other
  }
  return at
}

function countEscape(count: PayloadCount, byte: number): void {
  if (count.escape === 1) {
    if (byte === LETTER_U) {
      count.escape = 5
      count.code = 0
      return
    }
    count.escape = 0
    if (count.state === PAYLOAD) count.asciiBytes += 1
    return
  }
  count.code = count.code * 16 + hexDigit(byte)
  count.escape = count.escape === 2 ? 0 : count.escape - 1
  if (count.escape === 0 && count.state === PAYLOAD) countCode(count)
}

function hexDigit(byte: number): number {
  return byte <= 0x39 ? byte & 0x0f : (byte & 0x0f) + 9
}

function countCode(count: PayloadCount): void {
  const { code } = count
  if (code < 0x80) count.asciiBytes += 1
  else count.otherBytes += code < 0x800 || (code >= 0xd800 && code < 0xe000) ? 2 : 3
}

/** The bytes before and after the payload of a record; consecutive records usually share them. */
export type RecordFrame = { readonly before: Buffer; readonly after: Buffer }

/**
 * Counts a complete record that differs from an earlier one only in its payload, and returns the
 * offset after it. For any other it counts nothing and returns -1. It takes a third of the time of
 * `countLine`.
 */
export function countLikeFrame(
  count: PayloadCount,
  { before, after }: RecordFrame,
  bytes: Buffer,
  start: number,
): number {
  const from = start + before.length
  if (from > bytes.length || !isAt(bytes, start, before)) return -1
  let at = from
  let other = 0
  let escapes = 0
  while (at < bytes.length) {
    const byte = bytes[at] ?? 0
    if (byte === QUOTE) break
    if (byte === LF) return -1
    if (byte === BACKSLASH) {
      if (bytes[at + 1] === LETTER_U) return -1
      escapes += 1
      at += 2
    } else {
      other += byte >> 7
      at += 1
    }
  }
  const end = at + after.length
  if (end > bytes.length) return -1
  for (let i = 0; i < after.length; i += 1) if (bytes[at + i] !== after[i]) return -1
  count.asciiBytes += at - from - other - escapes
  count.otherBytes += other
  return end
}

// A native call: once any ArrayBuffer of the process has been transferred or grown, as loading .ts
// files and worker threads do, V8 adds a check to each byte read, and a loop over 110 bytes takes
// 240 ns instead of 90. This call takes 100.
function isAt(bytes: Buffer, start: number, expected: Buffer): boolean {
  return bytes.compare(expected, 0, expected.length, start, start + expected.length) === 0
}
