// Recognises a conversation by how it begins: by the session that a coding agent names, or else by
// a hash of its system prompt, its tools and its first message. All turns of a conversation give
// the same result, in whatever order a client writes the members of a body, and wherever it puts
// the cache marks, which move on with each turn.

import { crc32 } from 'node:zlib'
import type { CountRequest } from './draft.ts'
import {
  BrokenJson,
  type Cursor,
  cursorAt,
  isArray,
  isObject,
  isString,
  nextItem,
  nextMember,
  openArray,
  openObject,
  skipString,
  skipValue,
} from './json.ts'
import { match, names } from './names.ts'

/**
 * How many bytes of each part are hashed, in how many strings, and in how many bytes of JSON the
 * strings begin: what a part begins with tells conversations apart, and those that begin alike have
 * that much of a cache in common. With 4 KiB in any number of strings, an agent's request took
 * 6 µs, and a list of empty strings 1 ms.
 */
const HASHED_BYTES_MAX = 1_024
const STRINGS_MAX = 32
const READ_BYTES_MAX = 4_096
/** The agent's metadata has 250 bytes. */
const METADATA_BYTES_MAX = 4_096

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Members that come and go between turns, or with how a text is written. */
const ignoredNames = names('cache_control', 'type')
const metadataNames = names('user_id')

type Beginning = Pick<CountRequest, 'counted' | 'firstContentAt' | 'metadataAt'>

/**
 * Reads the parts again where the parser has found them. Beside the 22 µs in which request.ts
 * reads a 46 KB agent request it takes 4, with a session 0.4, and for any body at most 40
 * (November 2026).
 */
export function openingOf(body: Buffer, request: Beginning): string {
  return sessionOf(body, request) ?? String(hashOf(body, request))
}

/**
 * The `user_id` of a coding agent, which names its session: `user_…_account_…_session_…`, and since
 * 2.1.78 a JSON text. The one of another client may be the same for all its conversations.
 */
function sessionOf(body: Buffer, { metadataAt }: Beginning): string | undefined {
  if (metadataAt === undefined || metadataAt.end - metadataAt.start > METADATA_BYTES_MAX)
    return undefined
  const cursor = cursorAt(body)
  cursor.at = metadataAt.start
  if (!isObject(cursor)) return undefined
  for (let more = openObject(cursor); more; more = nextMember(cursor)) {
    const isSearched = match(cursor, metadataNames) !== undefined && isString(cursor)
    if (!isSearched) skipValue(cursor)
    else {
      skipString(cursor)
      const text = body.toString('latin1', cursor.from, cursor.to)
      return text.includes('session') ? text : undefined
    }
  }
  return undefined
}

function hashOf(body: Buffer, { counted, firstContentAt }: Beginning): number {
  const startOf = (part: 'system' | 'tools') => counted.find(({ name }) => name === part)?.at.start
  let hash = 0
  for (const start of [startOf('system'), startOf('tools'), firstContentAt]) {
    // So that a text that moves from one part to another makes another hash.
    hash = crc32(SEPARATOR, hash)
    if (start !== undefined) hash = hashPart(body, start, hash)
  }
  return hash
}

const SEPARATOR = Buffer.from([0])

type HashState = {
  hash: number
  bytesLeft: number
  stringsLeft: number
  isIgnored: boolean
  readonly end: number
}

function hashPart(body: Buffer, start: number, hash: number): number {
  const end = start + READ_BYTES_MAX
  // A name, a number or white space may have 32 MiB: nothing behind the last string is looked at.
  const cursor = cursorAt(body.subarray(0, end + HASHED_BYTES_MAX))
  cursor.at = start
  const state = {
    hash,
    bytesLeft: HASHED_BYTES_MAX,
    stringsLeft: STRINGS_MAX,
    isIgnored: false,
    end,
  }
  try {
    hashStrings(cursor, state)
  } catch (error) {
    if (!(error instanceof BrokenJson)) throw error // the cut made it invalid: enough was read
  }
  return state.hash
}

/**
 * Hashes the strings in a value, which is valid JSON; false when it has read enough. The names of
 * members do not count: a client that sets a cache mark turns `"content": "…"` into a text block.
 */
function hashStrings(cursor: Cursor, state: HashState): boolean {
  if (isString(cursor)) return hashString(cursor, state)
  if (isArray(cursor)) {
    for (let more = openArray(cursor); more; more = nextItem(cursor)) {
      if (!hashStrings(cursor, state)) return false
    }
  } else if (isObject(cursor)) {
    const wasIgnored = state.isIgnored
    for (let more = openObject(cursor); more; more = nextMember(cursor)) {
      state.isIgnored = wasIgnored || match(cursor, ignoredNames) !== undefined
      if (!hashStrings(cursor, state)) return false
    }
    state.isIgnored = wasIgnored
  } else skipValue(cursor)
  return cursor.at < state.end
}

function hashString(cursor: Cursor, state: HashState): boolean {
  const from = cursor.at + 1
  const window = cursor.bytes.subarray(from, from + HASHED_BYTES_MAX)
  const end = endOfString(window)
  if (!state.isIgnored) {
    const text = window.subarray(0, Math.min(state.bytesLeft, end ?? HASHED_BYTES_MAX))
    state.hash = crc32(text, state.hash)
    state.bytesLeft -= text.length
  }
  if (end === undefined) return false
  state.stringsLeft -= 1
  cursor.at = from + end + 1
  return state.bytesLeft > 0 && state.stringsLeft > 0 && cursor.at < state.end
}

/** Where the closing quote is. Not by `skipString`: the string may have 32 MiB. */
function endOfString(window: Buffer): number | undefined {
  const quote = window.indexOf(QUOTE)
  if (quote < 0) return undefined
  if (window[quote - 1] !== BACKSLASH) return quote
  for (let at = 0; at < window.length; at += 1) {
    if (window[at] === QUOTE) return at
    if (window[at] === BACKSLASH) at += 1
  }
  return undefined
}
