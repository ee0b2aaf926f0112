// A cursor over raw JSON bytes that skips values the caller does not need and creates no objects.
// It checks the structure strictly but not the inside of strings, because the same bytes go to the
// upstream, which checks them again.
//
// Why not JSON.parse: a 46 KB agent request takes 57 µs there and 22 µs here, and 32 MiB of `[`
// would become gigabytes of arrays. It also hides offsets and merges duplicate members. The memory
// used here does not grow with the body, and no byte of it is copied.

/** A position in a body. `from` and `to` hold the last string read, without its quotes. */
export type Cursor = {
  readonly bytes: Buffer
  at: number
  depth: number
  from: number
  to: number
}

/** The bytes from `at` on are not JSON. Thrown and caught inside this module. */
export class BrokenJson extends Error {
  override readonly name = 'BrokenJson'
  readonly at: number

  constructor(reason: string, at: number) {
    super(reason)
    this.at = at
  }
}

/**
 * Levels of nesting. Tool schemas stay under 30 and common parsers stop between 128 and 1024; at
 * 512 our own recursion uses about a quarter of the stack.
 */
export const DEPTH_MAX = 512

const QUOTE = 0x22
const COMMA = 0x2c
const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30
const NINE = 0x39
const COLON = 0x3a
const OPEN_ARRAY = 0x5b
const BACKSLASH = 0x5c
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

// Most names and enum values are shorter. Up to this length a loop is faster than Buffer.indexOf,
// which takes 65 ns however near the quote is. On a latin1 copy of the body indexOf would take 25
// ns, but the copy costs more: a 46 KB agent request takes 22 µs without it and 30 with it.
const SHORT_STRING_BYTES = 24

// The longest string whose value is needed is a model's name: 256 characters, six bytes each when
// written as escapes. Of a longer string only the beginning is returned.
const VALUE_BYTES_MAX = 4_096

export function cursorAt(bytes: Buffer): Cursor {
  return { bytes, at: 0, depth: 0, from: 0, to: 0 }
}

/** Skips white space and returns the next byte without consuming it; -1 at the end. */
export function peek(cursor: Cursor): number {
  const { bytes } = cursor
  // Never read past the end: one such read makes V8 compile slower loads, which cost a quarter
  // overall.
  while (cursor.at < bytes.length) {
    const byte = bytes[cursor.at] ?? -1
    if (!isSpace(byte)) return byte
    cursor.at += 1
  }
  return -1
}

function isSpace(byte: number): boolean {
  return byte <= 0x20 && (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09)
}

export const isString = (cursor: Cursor): boolean => peek(cursor) === QUOTE
export const isArray = (cursor: Cursor): boolean => peek(cursor) === OPEN_ARRAY
export const isObject = (cursor: Cursor): boolean => peek(cursor) === OPEN_OBJECT
export const isNull = (cursor: Cursor): boolean => peek(cursor) === 0x6e
export const isNumber = (cursor: Cursor): boolean => {
  const byte = peek(cursor)
  return byte === MINUS || (byte >= ZERO && byte <= NINE)
}

/** Enters an object and stands at its first value: `for (let m = open(c); m; m = next(c))`. */
export function openObject(cursor: Cursor): boolean {
  enter(cursor)
  if (peek(cursor) === CLOSE_OBJECT) return leave(cursor)
  return readName(cursor)
}

export function nextMember(cursor: Cursor): boolean {
  const byte = peek(cursor)
  if (byte === CLOSE_OBJECT) return leave(cursor)
  if (byte !== COMMA) throw unexpected(cursor)
  cursor.at += 1
  return readName(cursor)
}

export function openArray(cursor: Cursor): boolean {
  enter(cursor)
  if (peek(cursor) === CLOSE_ARRAY) return leave(cursor)
  return true
}

export function nextItem(cursor: Cursor): boolean {
  const byte = peek(cursor)
  if (byte === CLOSE_ARRAY) return leave(cursor)
  if (byte !== COMMA) throw unexpected(cursor)
  cursor.at += 1
  return true
}

function enter(cursor: Cursor): void {
  cursor.depth += 1
  if (cursor.depth > DEPTH_MAX) throw tooDeep(cursor.at)
  cursor.at += 1
}

function leave(cursor: Cursor): false {
  cursor.depth -= 1
  cursor.at += 1
  return false
}

function readName(cursor: Cursor): true {
  if (peek(cursor) !== QUOTE) throw unexpected(cursor)
  skipString(cursor)
  if (peek(cursor) !== COLON) throw unexpected(cursor)
  cursor.at += 1
  return true
}

/** Skips one value of any type. */
export function skipValue(cursor: Cursor): void {
  const byte = peek(cursor)
  if (byte === QUOTE) skipString(cursor)
  else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) skipContainer(cursor)
  else skipScalar(cursor, byte)
}

function skipScalar(cursor: Cursor, byte: number): void {
  if (byte === 0x74) skipWord(cursor, TRUE)
  else if (byte === 0x66) skipWord(cursor, FALSE)
  else if (byte === 0x6e) skipWord(cursor, NULL)
  else skipNumber(cursor)
}

// What may come next inside a container. The number is odd where a closing bracket may come too.
const VALUE = 0
const VALUE_OR_CLOSE = 1
const NAME = 2
const NAME_OR_CLOSE = 3
const COLON_ONLY = 4
const COMMA_OR_CLOSE = 5

// The open bracket at each depth. Shared by all calls, because its content is not used after a
// call.
const kinds = new Uint8Array(DEPTH_MAX + 1)

// One loop with its own stack instead of recursion: half the time on tool schemas, which are the
// larger part of an agent's request.
function skipContainer(cursor: Cursor): void {
  const { bytes } = cursor
  const floor = cursor.depth
  let depth = floor
  let expected = VALUE
  let at = cursor.at
  for (;;) {
    const byte = at < bytes.length ? (bytes[at] ?? -1) : -1
    if (byte === QUOTE && expected <= NAME_OR_CLOSE) {
      at = stringEnd(cursor, at + 1) + 1
      expected = expected >= NAME ? COLON_ONLY : COMMA_OR_CLOSE
    } else if (byte === COLON && expected === COLON_ONLY) {
      at += 1
      expected = VALUE
    } else if (byte === COMMA && expected === COMMA_OR_CLOSE) {
      at += 1
      expected = kinds[depth] === OPEN_OBJECT ? NAME : VALUE
    } else if ((byte === OPEN_OBJECT || byte === OPEN_ARRAY) && expected <= VALUE_OR_CLOSE) {
      at += 1
      depth += 1
      if (depth > DEPTH_MAX) throw tooDeep(at)
      kinds[depth] = byte
      expected = byte === OPEN_OBJECT ? NAME_OR_CLOSE : VALUE_OR_CLOSE
    } else if (byte - 2 === kinds[depth] && (expected & 1) === 1) {
      // A closing bracket is its opening one plus two, for both kinds.
      at += 1
      depth -= 1
      if (depth === floor) break
      expected = COMMA_OR_CLOSE
    } else if (isSpace(byte)) at += 1
    else {
      cursor.at = at
      if (expected > VALUE_OR_CLOSE) throw unexpected(cursor)
      skipScalar(cursor, byte)
      at = cursor.at
      expected = COMMA_OR_CLOSE
    }
  }
  cursor.at = at
}

const TRUE = Buffer.from('true')
const FALSE = Buffer.from('false')
const NULL = Buffer.from('null')

/** The first letter is known. */
function skipWord(cursor: Cursor, word: Buffer): void {
  const { bytes, at } = cursor
  if (at + word.length > bytes.length) throw unexpected(cursor)
  for (let i = 1; i < word.length; i += 1) if (bytes[at + i] !== word[i]) throw unexpected(cursor)
  cursor.at = at + word.length
}

/** Skips a string and stores its bounds in `from` and `to`. */
export function skipString(cursor: Cursor): void {
  cursor.from = cursor.at + 1
  cursor.to = stringEnd(cursor, cursor.from)
  cursor.at = cursor.to + 1
}

// A quote ends the string unless an odd number of backslashes precedes it. After an escaped quote
// more of them are likely, so the loop goes first: with Buffer.indexOf alone, 32 MiB of escaped
// quotes take half a second instead of 60 ms.
function stringEnd(cursor: Cursor, start: number): number {
  const { bytes } = cursor
  let at = start
  for (;;) {
    const near = Math.min(at + SHORT_STRING_BYTES, bytes.length)
    while (at < near) {
      const byte = bytes[at]
      if (byte === QUOTE) return at
      at += byte === BACKSLASH ? 2 : 1
    }
    const quote = bytes.indexOf(QUOTE, at)
    if (quote < 0) throw new BrokenJson('unexpected end of data', bytes.length)
    let before = quote - 1
    while (before >= at && bytes[before] === BACKSLASH) before -= 1
    if (((quote - before) & 1) === 1) return quote
    at = quote + 1
  }
}

/** Skips a number token, by JSON's grammar. */
export function skipNumber(cursor: Cursor): void {
  const { bytes } = cursor
  if (bytes[cursor.at] === MINUS) cursor.at += 1
  if (bytes[cursor.at] === ZERO) cursor.at += 1
  else skipDigits(cursor)
  if (bytes[cursor.at] === POINT) {
    cursor.at += 1
    skipDigits(cursor)
  }
  if (((bytes[cursor.at] ?? 0) | 0x20) === 0x65) {
    cursor.at += 1
    const sign = bytes[cursor.at]
    if (sign === 0x2b || sign === MINUS) cursor.at += 1
    skipDigits(cursor)
  }
}

function skipDigits(cursor: Cursor): void {
  const { bytes } = cursor
  const start = cursor.at
  let byte = bytes[cursor.at] ?? 0
  while (byte >= ZERO && byte <= NINE) {
    cursor.at += 1
    byte = bytes[cursor.at] ?? 0
  }
  if (cursor.at === start) throw unexpected(cursor)
}

/** Throws if anything but white space follows the value. */
export function expectEnd(cursor: Cursor): void {
  if (peek(cursor) !== -1) throw new BrokenJson('unexpected content after document', cursor.at)
}

function unexpected(cursor: Cursor): BrokenJson {
  const { at, bytes } = cursor
  return new BrokenJson(at < bytes.length ? 'unexpected character' : 'unexpected end of data', at)
}

function tooDeep(at: number): BrokenJson {
  return new BrokenJson('Recursion limit reached', at)
}

/**
 * The value of the last string; of one longer than VALUE_BYTES_MAX the beginning, without
 * unescaping.
 */
export function stringValue(cursor: Cursor): string {
  const { bytes, from, to } = cursor
  if (to - from > VALUE_BYTES_MAX) return bytes.toString('utf8', from, from + VALUE_BYTES_MAX)
  try {
    return JSON.parse(bytes.toString('utf8', from - 1, to + 1)) as string
  } catch {
    throw new BrokenJson('invalid string', from)
  }
}
