// Recognises the name of a member, or one of a few string values, in the raw body. Names are
// compared after unescaping (`"mod\u0065l"` is `model`), but no string is created for unknown
// names.

import { type Cursor, stringValue } from './json.ts'

/** A closed set of names to recognise. */
export type Names<Name extends string> = readonly { readonly name: Name; readonly bytes: Buffer }[]

export function names<Name extends string>(...list: Name[]): Names<Name> {
  return list.map((name) => ({ name, bytes: Buffer.from(name) }))
}

const BACKSLASH = 0x5c

// The longest name we look for has 21 characters; written as \u escapes it takes six bytes each.
const ESCAPED_NAME_BYTES_MAX = 21 * 6

/** Which of the names the last string is, compared after unescaping. */
export function match<Name extends string>(cursor: Cursor, set: Names<Name>): Name | undefined {
  const { bytes, from, to } = cursor
  const length = to - from
  for (const entry of set) {
    if (entry.bytes.length === length && isSame(bytes, from, entry.bytes)) return entry.name
  }
  if (length > ESCAPED_NAME_BYTES_MAX || !hasEscape(cursor)) return undefined
  const value = stringValue(cursor)
  return set.find((entry) => entry.name === value)?.name
}

function hasEscape({ bytes, from, to }: Cursor): boolean {
  for (let at = from; at < to; at += 1) if (bytes[at] === BACKSLASH) return true
  return false
}

function isSame(bytes: Buffer, from: number, name: Buffer): boolean {
  for (let i = 0; i < name.length; i += 1) {
    if (bytes[from + i] !== name[i]) return false
  }
  return true
}
