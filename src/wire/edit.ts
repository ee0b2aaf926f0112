// Replaces single values in a raw JSON body, or inserts one at the end of an object, and nothing
// else: every other byte reaches the upstream as the client wrote it, because signatures over
// earlier thinking depend on it. request.ts has found the byte ranges of the values. A number stays
// a number, a string a string.

import type { ByteRange } from './shape.ts'

/**
 * Replaces the number or string at `range` by `value`. With a `name`, inserts a member of that name
 * instead: the range is empty and stands before the brace that closes an object with members.
 */
export type Edit = {
  readonly range: ByteRange
  readonly value: number | string
  readonly name?: string
}

/**
 * The edited body as slices to write one after the other; only the new values are new memory, so
 * a 32 MiB body is not copied. Without edits, the body itself.
 */
export function editBody(body: Buffer, edits: readonly Edit[]): Buffer[] {
  const slices: Buffer[] = []
  let start = 0
  for (const edit of edits.toSorted((a, b) => a.range.start - b.range.start)) {
    const { range, value, name } = edit
    // A wrong offset would corrupt the prompt silently, so check what stands there.
    if (range.start < start || !isPlaceOf(edit, body)) {
      throw new RangeError(`no ${typeof value} to edit at ${range.start}`)
    }
    const text = name === undefined ? valueText(value) : `,"${name}":${valueText(value)}`
    slices.push(body.subarray(start, range.start), Buffer.from(text))
    start = range.end
  }
  slices.push(body.subarray(start))
  return slices
}

function isPlaceOf({ range, value, name }: Edit, body: Buffer): boolean {
  if (name !== undefined) return range.start === range.end && body[range.start] === CLOSE_OBJECT
  const token = body.toString('latin1', range.start, range.end)
  return typeof value === 'number' ? NUMBER.test(token) : STRING.test(token)
}

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

function valueText(value: number | string): string {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new RangeError(`${value} is not a JSON number`)
  }
  return JSON.stringify(value)
}
