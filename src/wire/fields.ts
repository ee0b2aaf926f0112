// One reader per field of a message request that limits or prices depend on. Each stands at its
// value, steps over it, and leaves in the draft what it found or what is wrong, in words observed
// from the vendor. Where the vendor takes null as "not given", so do these.

import { noteUnbounded, type Place, readContent, readTools, TwiceNamed } from './content.ts'
import {
  type CheckedName,
  type Draft,
  MODEL_LENGTH_MAX,
  note,
  STOP_SEQUENCES_MAX,
  TEMPERATURE_MAX,
} from './draft.ts'
import {
  type Cursor,
  isArray,
  isNull,
  isNumber,
  isObject,
  isString,
  nextItem,
  nextMember,
  openArray,
  openObject,
  peek,
  skipString,
  skipValue,
  stringValue,
} from './json.ts'
import { match, names } from './names.ts'

/** Notes the problem and steps over the value that causes it. */
function mistyped(cursor: Cursor, draft: Draft, field: CheckedName, wanted: string, path?: string) {
  note(draft, field, `Input should be ${wanted}`, path)
  skipValue(cursor)
}

export function readModel(cursor: Cursor, draft: Draft): void {
  const model = readText(cursor)
  if (model === undefined) note(draft, 'model', 'Input should be a valid string')
  else if (model === '') note(draft, 'model', 'String should have at least 1 character')
  else if (model.length > MODEL_LENGTH_MAX) {
    note(draft, 'model', `String should have at most ${MODEL_LENGTH_MAX} characters`)
  } else {
    draft.model = model
    draft.modelAt = { start: cursor.from - 1, end: cursor.to + 1 }
  }
}

/** The string's value; undefined, with the value stepped over, for anything else. */
export function readText(cursor: Cursor): string | undefined {
  const given = isString(cursor)
  skipValue(cursor)
  return given ? stringValue(cursor) : undefined
}

const messageNames = names('role', 'content')
const roles = names('user', 'assistant', 'system')

export function readMessages(cursor: Cursor, draft: Draft): void {
  if (isArray(cursor)) {
    let index = 0
    for (let more = openArray(cursor); more; more = nextItem(cursor)) {
      if (isObject(cursor)) readMessage(cursor, draft, index)
      else mistyped(cursor, draft, 'messages', 'an object', `messages.${index}`)
      index += 1
    }
    if (index === 0) note(draft, 'messages', 'at least one message is required')
  } else mistyped(cursor, draft, 'messages', 'a valid array')
}

function readMessage(cursor: Cursor, draft: Draft, index: number): void {
  let hasRole = false
  let hasContent = false
  for (let more = openObject(cursor); more; more = nextMember(cursor)) {
    const name = match(cursor, messageNames)
    if (name === 'role') {
      if (hasRole) throw new TwiceNamed(`messages.${index}.role`)
      hasRole = true
      readRole(cursor, draft, index)
    } else if (name === 'content') {
      if (hasContent) throw new TwiceNamed(`messages.${index}.content`)
      hasContent = true
      if (isString(cursor) || isArray(cursor)) readContent(cursor, draft.shape)
      else mistyped(cursor, draft, 'messages', 'a valid array', `messages.${index}.content`)
    } else skipValue(cursor)
  }
  if (!hasRole) note(draft, 'messages', 'Field required', `messages.${index}.role`)
  if (!hasContent) note(draft, 'messages', 'Field required', `messages.${index}.content`)
}

// A `system` message is let through: the vendor takes it after the first turn, and judges where.
function readRole(cursor: Cursor, draft: Draft, index: number): void {
  if (isString(cursor)) {
    skipString(cursor)
    if (match(cursor, roles) !== undefined) return
    const role = JSON.stringify(stringValue(cursor).slice(0, ROLE_SHOWN_MAX))
    note(draft, 'messages', `Unexpected role ${role}. Allowed roles are "user" or "assistant"`)
  } else mistyped(cursor, draft, 'messages', 'a valid string', `messages.${index}.role`)
}

// Enough to recognise a typing error; a prompt in the wrong place is not echoed whole.
const ROLE_SHOWN_MAX = 64

/** A number's value and place; undefined, with the value stepped over, for anything else. */
function readNumber(cursor: Cursor): { value: number; place: Place } | undefined {
  const given = isNumber(cursor)
  const start = cursor.at
  skipValue(cursor)
  if (!given || cursor.at - start > NUMBER_BYTES_MAX) return undefined
  const place = { start, end: cursor.at }
  return { value: Number(cursor.bytes.toString('latin1', start, cursor.at)), place }
}

// A double written out in full has 1,100 digits at most; nobody means what is longer.
const NUMBER_BYTES_MAX = 2_048

// `1e3` and `1000.0` are whole numbers to the vendor, so they are to us.
export function readMaxTokens(cursor: Cursor, draft: Draft): void {
  const number = readNumber(cursor)
  if (number === undefined || !Number.isSafeInteger(number.value)) {
    note(draft, 'max_tokens', 'Input should be a valid integer')
  } else if (number.value < 0) note(draft, 'max_tokens', 'must be greater than or equal to 0')
  else {
    // `-0` is a legal way to write none.
    draft.maxTokens = Math.abs(number.value)
    draft.maxTokensAt = number.place
  }
}

export function readTemperature(cursor: Cursor, draft: Draft): void {
  const number = readNumber(cursor)
  if (number === undefined) note(draft, 'temperature', 'Input should be a valid number')
  else if (number.value >= 0 && number.value <= TEMPERATURE_MAX) {
    draft.temperature = number.value
    draft.temperatureAt = number.place
  } else note(draft, 'temperature', `range: 0..${TEMPERATURE_MAX}`)
}

export function readStopSequences(cursor: Cursor, draft: Draft): void {
  if (isArray(cursor)) {
    let count = 0
    for (let more = openArray(cursor); more; more = nextItem(cursor)) {
      if (isString(cursor)) skipString(cursor)
      else mistyped(cursor, draft, 'stop_sequences', 'a valid string', `stop_sequences.${count}`)
      count += 1
    }
    if (count > STOP_SEQUENCES_MAX) {
      const sentence = `List should have at most ${STOP_SEQUENCES_MAX} items after validation`
      note(draft, 'stop_sequences', `${sentence}, not ${count}`)
    }
  } else if (isNull(cursor)) skipValue(cursor)
  else mistyped(cursor, draft, 'stop_sequences', 'a valid array')
}

export function readStream(cursor: Cursor, draft: Draft): void {
  const byte = peek(cursor)
  draft.stream = byte === TRUE
  if (byte === TRUE || byte === FALSE) skipValue(cursor)
  else mistyped(cursor, draft, 'stream', 'a valid boolean')
}

const TRUE = 0x74
const FALSE = 0x66

export function readSystem(cursor: Cursor, draft: Draft): void {
  if (isString(cursor) || isArray(cursor)) readContent(cursor, draft.shape)
  else mistyped(cursor, draft, 'system', 'a valid array')
}

export function readToolList(cursor: Cursor, draft: Draft): void {
  if (isArray(cursor)) readTools(cursor, draft.shape)
  else mistyped(cursor, draft, 'tools', 'a valid array')
}

const thinkingNames = names('budget_tokens')

export function readThinking(cursor: Cursor, draft: Draft): void {
  if (isObject(cursor)) {
    for (let more = openObject(cursor); more; more = nextMember(cursor)) {
      if (match(cursor, thinkingNames) === undefined) skipValue(cursor)
      else {
        const budget = readNumber(cursor)?.value ?? 0
        if (Number.isSafeInteger(budget) && budget > draft.thinkingBudget) {
          draft.thinkingBudget = budget
        }
      }
    }
  } else mistyped(cursor, draft, 'thinking', 'an object')
}

const typeNames = names('type')

// Clearing old tool results only shortens the input; compacting runs one more pass.
export function readContextManagement(cursor: Cursor, draft: Draft): void {
  if (isArray(cursor)) {
    for (let more = openArray(cursor); more; more = nextItem(cursor)) {
      readContextManagement(cursor, draft)
    }
  } else if (isObject(cursor)) {
    for (let more = openObject(cursor); more; more = nextMember(cursor)) {
      if (match(cursor, typeNames) === undefined) readContextManagement(cursor, draft)
      else if (readText(cursor)?.startsWith('compact')) noteUnbounded(draft.shape, 'compaction')
    }
  } else skipValue(cursor)
}

/** True for a value other than null and the empty array, for fields that matter by being there. */
export function readPresence(cursor: Cursor): boolean {
  if (isArray(cursor)) {
    let items = 0
    for (let more = openArray(cursor); more; more = nextItem(cursor)) {
      skipValue(cursor)
      items += 1
    }
    return items > 0
  }
  const given = !isNull(cursor)
  skipValue(cursor)
  return given
}
