// Replaces or removes single values in a raw JSON body, or inserts one at the end of an object, and
// nothing else: every other byte reaches the upstream as the client wrote it, because signatures
// over earlier thinking depend on it. request.ts has found the byte ranges of the values. A number
// stays a number, a string a string.

import type { ByteRange } from './shape.ts'

/**
 * Replaces the number or string at `range` by `value`. With a `name`, inserts a member of that name
 * instead: the range is empty and stands before the brace that closes an object with members.
 */
type NewValue = {
  readonly range: ByteRange
  readonly value: number | string
  readonly name?: string
}

/** Removes the member whose value, a number, is at `range`, and one comma beside it. */
type Removal = { readonly range: ByteRange; readonly isRemoved: true }

export type Edit = NewValue | Removal

/**
 * The edited body as slices to write one after the other; only the new values are new memory, so
 * a 32 MiB body is not copied. Without edits, the body itself.
 */
export function editBody(body: Buffer, edits: readonly Edit[]): Buffer[] {
  const slices: Buffer[] = []
  let start = 0
  for (const edit of edits.toSorted((a, b) => a.range.start - b.range.start)) {
    const isRemoved = 'isRemoved' in edit
    // A wrong offset would corrupt the prompt silently, so check what stands there.
    const isPlace = isRemoved ? isNumberAt(edit.range, body) : isPlaceOf(edit, body)
    const range = isPlace && isRemoved ? memberAround(body, edit.range) : edit.range
    if (!isPlace || range.start < start) throw new RangeError(`nothing to edit at ${range.start}`)
    slices.push(body.subarray(start, range.start))
    if (!isRemoved) slices.push(Buffer.from(textOf(edit)))
    start = range.end
  }
  slices.push(body.subarray(start))
  return slices
}

function isPlaceOf({ range, value, name }: NewValue, body: Buffer): boolean {
  if (name !== undefined) return range.start === range.end && body[range.start] === CLOSE_OBJECT
  if (typeof value === 'number') return isNumberAt(range, body)
  return STRING.test(body.toString('latin1', range.start, range.end))
}

function isNumberAt({ start, end }: ByteRange, body: Buffer): boolean {
  return NUMBER.test(body.toString('latin1', start, end))
}

/** The range of the whole member, with the comma after it, or else the one before it. */
function memberAround(body: Buffer, value: ByteRange): ByteRange {
  // The name is one that request.ts looks for, so that it contains no quote.
  const nameEnd = body.lastIndexOf(QUOTE, value.start)
  const start = body.lastIndexOf(QUOTE, nameEnd - 1)
  let next = value.end
  while (isSpace(body[next])) next += 1
  if (body[next] === COMMA) return { start, end: next + 1 }
  let last = start - 1
  while (isSpace(body[last])) last -= 1
  return { start: body[last] === COMMA ? last : start, end: value.end }
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

const QUOTE = 0x22
const COMMA = 0x2c
const CLOSE_OBJECT = 0x7d

/** For `content-length`. */
export function bytesTotal(slices: readonly Buffer[]): number {
  let total = 0
  for (const slice of slices) total += slice.length
  return total
}

// A limit of a tool may be null, which counts as absent.
const NUMBER = /^(?:null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/
const STRING = /^"(?:[^"\\]|\\.)*"$/

function textOf({ value, name }: NewValue): string {
  return name === undefined ? valueText(value) : `,"${name}":${valueText(value)}`
}

function valueText(value: number | string): string {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new RangeError(`${value} is not a JSON number`)
  }
  return JSON.stringify(value)
}
