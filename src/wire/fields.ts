// One reader per field of a message request that limits or prices depend on. The cursor stands at
// the field's value; the reader moves it past the value and stores in the draft what it found, or
// the problem in the vendor's words. Where the vendor treats null as absent, so do these readers.

import { readContent } from './content.ts'
import {
  type CheckedName,
  type Draft,
  MODEL_LENGTH_MAX,
  noteProblem,
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
import { type ByteRange, DuplicateMember, noteOther, noteUnbounded } from './shape.ts'
import { readTools } from './tools.ts'

/** Notes the problem and skips the value that causes it. */
function noteWrongType(
  cursor: Cursor,
  draft: Draft,
  field: CheckedName,
  wanted: string,
  path?: string,
) {
  noteProblem(draft, field, `Input should be ${wanted}`, path)
  skipValue(cursor)
}

export function readModel(cursor: Cursor, draft: Draft): void {
  const model = readText(cursor)
  if (model === undefined) noteProblem(draft, 'model', 'Input should be a valid string')
  else if (model === '') noteProblem(draft, 'model', 'String should have at least 1 character')
  else if (model.length > MODEL_LENGTH_MAX) {
    noteProblem(draft, 'model', `String should have at most ${MODEL_LENGTH_MAX} characters`)
  } else {
    draft.model = model
    draft.modelAt = { start: cursor.from - 1, end: cursor.to + 1 }
  }
}

/** The string's value; undefined for any other type. Moves the cursor past the value either way. */
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
      else noteWrongType(cursor, draft, 'messages', 'an object', `messages.${index}`)
      index += 1
    }
    if (index === 0) noteProblem(draft, 'messages', 'at least one message is required')
  } else noteWrongType(cursor, draft, 'messages', 'a valid array')
}

function readMessage(cursor: Cursor, draft: Draft, index: number): void {
  let hasRole = false
  let hasContent = false
  for (let more = openObject(cursor); more; more = nextMember(cursor)) {
    const name = match(cursor, messageNames)
    if (name === 'role') {
      if (hasRole) throw new DuplicateMember(`messages.${index}.role`)
      hasRole = true
      readRole(cursor, draft, index)
    } else if (name === 'content') {
      if (hasContent) throw new DuplicateMember(`messages.${index}.content`)
      hasContent = true
      peek(cursor) // moves the cursor past white space, to the value
      if (index === 0) draft.firstContentAt = cursor.at
      if (isString(cursor) || isArray(cursor)) readContent(cursor, draft.shape)
      else noteWrongType(cursor, draft, 'messages', 'a valid array', `messages.${index}.content`)
    } else skipValue(cursor)
  }
  if (!hasRole) noteProblem(draft, 'messages', 'Field required', `messages.${index}.role`)
  if (!hasContent) noteProblem(draft, 'messages', 'Field required', `messages.${index}.content`)
}

// A `system` message is accepted: the vendor allows it after the first turn, and checks its
// position.
function readRole(cursor: Cursor, draft: Draft, index: number): void {
  if (isString(cursor)) {
    skipString(cursor)
    if (match(cursor, roles) !== undefined) return
    const role = JSON.stringify(stringValue(cursor).slice(0, ROLE_SHOWN_MAX))
    noteProblem(
      draft,
      'messages',
      `Unexpected role ${role}. Allowed roles are "user" or "assistant"`,
    )
  } else noteWrongType(cursor, draft, 'messages', 'a valid string', `messages.${index}.role`)
}

// Enough to recognise a typing error; a prompt in this field is not echoed completely.
const ROLE_SHOWN_MAX = 64

/**
 * A number's value and range; undefined for any other type. Moves the cursor past the value either
 * way.
 */
function readNumber(cursor: Cursor): { value: number; range: ByteRange } | undefined {
  const given = isNumber(cursor)
  const start = cursor.at
  skipValue(cursor)
  if (!given || cursor.at - start > NUMBER_BYTES_MAX) return undefined
  const range = { start, end: cursor.at }
  return { value: Number(cursor.bytes.toString('latin1', start, cursor.at)), range }
}

// A double written out in full has at most 1,100 digits; a longer number is a mistake.
const NUMBER_BYTES_MAX = 2_048

// `1e3` and `1000.0` are whole numbers to the vendor, so they are to us.
export function readMaxTokens(cursor: Cursor, draft: Draft): void {
  const number = readNumber(cursor)
  if (number === undefined || !Number.isSafeInteger(number.value)) {
    noteProblem(draft, 'max_tokens', 'Input should be a valid integer')
  } else if (number.value < 0)
    noteProblem(draft, 'max_tokens', 'must be greater than or equal to 0')
  else {
    // JSON allows `-0`.
    draft.maxTokens = Math.abs(number.value)
    draft.maxTokensAt = number.range
  }
}

export function readTemperature(cursor: Cursor, draft: Draft): void {
  const number = readNumber(cursor)
  if (number === undefined) noteProblem(draft, 'temperature', 'Input should be a valid number')
  else if (number.value >= 0 && number.value <= TEMPERATURE_MAX) {
    draft.temperature = number.value
    draft.temperatureAt = number.range
  } else noteProblem(draft, 'temperature', `range: 0..${TEMPERATURE_MAX}`)
}

export function readStopSequences(cursor: Cursor, draft: Draft): void {
  if (isArray(cursor)) {
    let count = 0
    for (let more = openArray(cursor); more; more = nextItem(cursor)) {
      if (isString(cursor)) skipString(cursor)
      else
        noteWrongType(cursor, draft, 'stop_sequences', 'a valid string', `stop_sequences.${count}`)
      count += 1
    }
    if (count > STOP_SEQUENCES_MAX) {
      const sentence = `List should have at most ${STOP_SEQUENCES_MAX} items after validation`
      noteProblem(draft, 'stop_sequences', `${sentence}, not ${count}`)
    }
  } else if (isNull(cursor)) skipValue(cursor)
  else noteWrongType(cursor, draft, 'stop_sequences', 'a valid array')
}

export function readStream(cursor: Cursor, draft: Draft): void {
  const byte = peek(cursor)
  draft.stream = byte === TRUE
  if (byte === TRUE || byte === FALSE) skipValue(cursor)
  else noteWrongType(cursor, draft, 'stream', 'a valid boolean')
}

const TRUE = 0x74
const FALSE = 0x66

export function readSystem(cursor: Cursor, draft: Draft): void {
  if (isString(cursor) || isArray(cursor)) readContent(cursor, draft.shape)
  else noteWrongType(cursor, draft, 'system', 'a valid array')
}

export function readToolList(cursor: Cursor, draft: Draft): void {
  if (isArray(cursor)) readTools(cursor, draft.shape)
  else noteWrongType(cursor, draft, 'tools', 'a valid array')
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
  } else noteWrongType(cursor, draft, 'thinking', 'an object')
}

const typeNames = names('type')

// Clearing old tool results only shortens the input; compaction runs one more pass.
export function readContextManagement(cursor: Cursor, draft: Draft): void {
  if (isArray(cursor)) {
    for (let more = openArray(cursor); more; more = nextItem(cursor)) {
      readContextManagement(cursor, draft)
    }
  } else if (isObject(cursor)) {
    for (let more = openObject(cursor); more; more = nextMember(cursor)) {
      if (match(cursor, typeNames) === undefined) readContextManagement(cursor, draft)
      else if (readText(cursor)?.startsWith('compact')) {
        noteUnbounded(draft.shape, 'compaction', { field: 'context_management' })
      }
    }
  } else skipValue(cursor)
}

const fallbackNames = names('model', 'speed')

/** A word or a list of models, each with values of its own that change the bill. */
export function readFallbacks(cursor: Cursor, { shape }: Draft): void {
  if (!isArray(cursor)) {
    if (!isNull(cursor)) noteUnbounded(shape, 'fallbacks', { field: 'fallbacks' })
    skipValue(cursor)
    return
  }
  for (let more = openArray(cursor); more; more = nextItem(cursor)) {
    noteUnbounded(shape, 'fallbacks', { field: 'fallbacks' })
    if (!isObject(cursor)) skipValue(cursor)
    else
      for (let next = openObject(cursor); next; next = nextMember(cursor)) {
        const name = match(cursor, fallbackNames)
        if (name === 'model') noteOther(shape.otherModels, readText(cursor))
        else if (name === 'speed') noteOther(shape.otherSpeeds, readText(cursor))
        else skipValue(cursor)
      }
  }
}

/**
 * True for a value other than null and the empty array, for fields of which only the presence
 * matters.
 */
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
