// Changes single values in a raw JSON body and nothing else: every other byte reaches the upstream
// as the client wrote it, which signatures over earlier thinking depend on. Where the values stand
// is known from reading the request. A number stays a number, a string a string.

import type { Place } from './content.ts'

/** Put `value` where the number or string at `place` stands. */
export type Edit = { readonly place: Place; readonly value: number | string }

/**
 * The edited body as slices to write one after the other; only the new values are new memory, so
 * a 32 MiB body is not copied. Without edits, the body itself.
 */
export function editBody(body: Buffer, edits: readonly Edit[]): Buffer[] {
  const slices: Buffer[] = []
  let start = 0
  for (const { place, value } of edits.toSorted((a, b) => a.place.start - b.place.start)) {
    // A wrong offset would corrupt the prompt silently, so what is replaced must be of its kind.
    const token = body.toString('latin1', place.start, place.end)
    const isSame = typeof value === 'number' ? NUMBER.test(token) : STRING.test(token)
    if (place.start < start || !isSame) {
      throw new RangeError(`no ${typeof value} to edit at ${place.start}`)
    }
    slices.push(body.subarray(start, place.start), Buffer.from(valueText(value)))
    start = place.end
  }
  slices.push(body.subarray(start))
  return slices
}

/** For `content-length`. */
export function bytesTotal(slices: readonly Buffer[]): number {
  let total = 0
  for (const slice of slices) total += slice.length
  return total
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const STRING = /^"(?:[^"\\]|\\.)*"$/

function valueText(value: number | string): string {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new RangeError(`${value} is not a JSON number`)
  }
  return JSON.stringify(value)
}
