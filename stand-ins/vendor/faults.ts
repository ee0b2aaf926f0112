// Every fault of the stand-in, by name. A fault is `name` or `name=value`; several combine. Other
// files apply them: distort.ts changes events, outlet.ts changes bytes, answer.ts replaces whole
// answers.
import { invalid } from './errors.ts'

const flag = (value: string | null) => value === null || value === 'true'
const text = (value: string | null) =>
  value?.startsWith('"') ? String(JSON.parse(value)) : (value ?? '')

function whole(value: string | null): number {
  if (value === null || !/^\d+$/.test(value)) throw invalid(`stand-in: not a number: ${value}`)
  return Number(value)
}

/** `{"speed":"fast"}` */
function json(value: string | null): Record<string, unknown> {
  return Object(JSON.parse(value ?? '{}'))
}

/** Milliseconds, or `forever`, which lasts until the client disconnects. */
function span(value: string | null): number {
  return value === 'forever' ? Number.POSITIVE_INFINITY : whole(value)
}

const readers = {
  // Instead of a reply.
  status: whole,
  'error-type': text,
  message: text,
  'retry-after': text,
  'retry-after-ms': text,
  'should-retry': text,
  html: flag,
  empty: flag,
  'echo-key': flag,
  // Time.
  'headers-ms': span,
  'pace-ms': span,
  'silence-after': whole,
  'silence-ms': span,
  'ping-ms': whole,
  // Bytes.
  chunk: text,
  seed: whole,
  gzip: flag,
  'reset-at': whole,
  'fin-at': whole,
  'end-at': whole,
  drop: flag,
  close: flag,
  // Lines.
  crlf: flag,
  comments: flag,
  'no-event-line': flag,
  // Events and members.
  'error-after': whole,
  'no-usage': flag,
  'usage-in-start': flag,
  usage: whole,
  'usage-input': whole,
  'usage-output': whole,
  'usage-members': json,
  'double-delta': flag,
  pings: flag,
  'unknown-event': flag,
  'unknown-field': flag,
  huge: whole,
} as const

type Readers = typeof readers
export type Faults = { readonly [Name in keyof Readers]?: ReturnType<Readers[Name]> }

/** Reads fault words on top of a base; the word `none` removes everything before it. */
export function readFaults(words: readonly string[], base: Faults = {}): Faults {
  let found: Record<string, unknown> = { ...base }
  for (const word of words) {
    const cut = word.indexOf('=')
    const name = cut < 0 ? word : word.slice(0, cut)
    if (name === 'none') {
      found = {}
    } else if (isFaultName(name)) {
      found[name] = readers[name](cut < 0 ? null : word.slice(cut + 1))
    } else {
      throw invalid(`stand-in: unknown fault "${name}"`)
    }
  }
  // Safe: the reader of each name produced its member.
  return found as Faults
}

function isFaultName(name: string): name is keyof Readers {
  return Object.hasOwn(readers, name)
}
