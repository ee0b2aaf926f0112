// The log: JSON lines by pino. Only plain values are logged: secrets are masked by their field
// name, bodies are dropped by field name and by type, and keys are removed from every text. No
// prompt and no key may reach a log, so values of unknown types are dropped.
import pino from 'pino'
import { dateAt, systemClock } from './clock.ts'
import { standardOutput } from './log-output.ts'
import { DOTS, Masked } from './masked.ts'
import { memoize } from './memoize.ts'

export type LogFields = Readonly<Record<string, unknown>>
export type RecordFields = Readonly<Record<string, string | number | boolean | undefined>>
type Verb = { (message: string): void; (fields: LogFields, message?: string): void }
const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const
export type Level = (typeof levels)[number]
export type LevelSetting = Level | 'silent'

/** Fields first, then a sentence. The sentence takes no placeholders: values belong in fields. */
export type Log = Readonly<Record<Level, Verb>> & {
  /** False when a line of this level would not be written: then its fields need not be made. */
  isEnabled(level: Level): boolean
  /**
   * Writes the line of a request. Its values are already plain, so that they are neither copied nor
   * masked by name; keys are removed from the finished line as from every other. With the 27
   * members of a request it takes 16 µs of CPU time and `info` 40 (November 2026, medians of five).
   */
  record(level: Level, fields: RecordFields, message: string): void
  /** A log that adds these fields to every line. */
  child(fields: LogFields): Log
  /** From now on, for this log, the one that it is a child of, and all other children. */
  setLevel(level: LevelSetting): void
}

type LogOptions = {
  readonly level: LevelSetting
  /** Lines for people instead of JSON. */
  readonly pretty?: boolean
  /**
   * Keys with this slug are removed even when they are cut; keys of other vendors only if they are
   * long enough.
   */
  readonly slug?: string
  readonly destination?: { write(line: string): void }
}

export function createLog({
  level,
  pretty = false,
  slug = 'vendor',
  destination,
}: LogOptions): Log {
  const out = destination ?? standardOutput
  const stream = pretty ? { write: (line: string) => out.write(prettyLine(line)) } : out
  const scrub = scrubber(slug)
  const root = pino(
    {
      level: 'trace', // `threshold` decides: a child of pino would keep the level it was made with
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // plainError has converted errors already; pino's own serializer would copy every member.
      serializers: { err: (error: unknown) => error },
      // Scrub the finished line, which includes messages, stacks and child fields.
      hooks: { streamWrite: scrub },
    },
    stream,
  )
  const threshold = { lowest: lowestOf(level) }
  const log = wrapped(root, threshold, (line) => void stream.write(scrub(line)), '')
  if (destination === undefined) {
    standardOutput.onDropped = (lines) =>
      log.warn({ lines }, 'log lines were dropped: nobody read the log')
  }
  return log
}

/** The place in `levels` of the lowest level that is written. */
const lowestOf = (level: LevelSetting): number =>
  level === 'silent' ? levels.length : levels.indexOf(level)

/** `bound`: the fields of a child, as they are in a line of `record`. */
function wrapped(
  logger: pino.Logger,
  threshold: { lowest: number },
  write: (line: string) => void,
  bound: string,
): Log {
  const isEnabled = (level: Level) => levels.indexOf(level) >= threshold.lowest
  const verb =
    (level: Level): Verb =>
    (first: string | LogFields, message?: string) => {
      if (!isEnabled(level)) return
      if (typeof first === 'string') logger[level](first)
      else logger[level](plainFields(first), message)
    }
  const verbs = Object.fromEntries(levels.map((level) => [level, verb(level)]))
  return {
    ...(verbs as Record<Level, Verb>),
    isEnabled,
    setLevel(level) {
      threshold.lowest = lowestOf(level)
    },
    record(level, fields, message) {
      if (!isEnabled(level)) return
      const time = dateAt(systemClock.nowMs()).toISOString()
      const members = JSON.stringify(fields).slice(1, -1)
      const rest = members === '' ? '' : `,${members}`
      write(
        `{"level":"${level}","time":"${time}"${bound}${rest},"msg":${JSON.stringify(message)}}\n`,
      )
    },
    child(fields) {
      const plain = plainFields(fields)
      const members = JSON.stringify(plain).slice(1, -1)
      const rest = members === '' ? bound : `${bound},${members}`
      return wrapped(logger.child(plain), threshold, write, rest)
    },
  }
}

// Compared without case, dashes and underscores, so x-api-key, xApiKey and X_API_KEY are one name.
const SECRET_ENDINGS =
  'password|passphrase|secret|authorization|cookie|apikey|credential|privatekey'
const SECRET_NAMES = new RegExp(`(?:${SECRET_ENDINGS})s?$|^(?:key|session)$`)
const BODY_NAMES = new Set(
  (
    'body rawbody requestbody responsebody payload chunk data headers prompt messages content ' +
    'system text thinking input output reply completion'
  ).split(' '),
)
const NOT_LOGGED = '[not logged]'

// A log line is for one event. Ours have about 15 short fields, three levels deep at most; a string
// of 1024 characters holds any id, address or sentence and no useful part of a prompt.
const DEPTH_MAX = 4
const ITEMS_MAX = 20
const TEXT_MAX = 1024
// Twenty frames of a stack.
const STACK_MAX = 4096

function plainFields(fields: LogFields, depth = 0): Record<string, unknown> {
  // log.error(error) is an easy mistake; treat it as the err field.
  if (fields instanceof Error) return { err: plainError(fields, depth) }
  // Every request logs a line: this loop and the memoized kinds cut it from 9 to 6 µs.
  const out: Record<string, unknown> = {}
  for (const name of Object.keys(fields)) out[name] = named(name, fields[name], depth)
  return out
}

function named(name: string, value: unknown, depth: number): unknown {
  const kind = kindOf(name)
  if (kind === 'secret') return DOTS
  // `output: 512` is a number of tokens; only strings and objects can contain a body.
  const mayHoldText = typeof value === 'string' || (typeof value === 'object' && value !== null)
  if (kind === 'body' && mayHoldText) return NOT_LOGGED
  return plain(value, depth)
}

// There are few field names; the limit is for an object whose keys are data.
const KINDS_MAX = 2_000
const kindOf = memoize(KINDS_MAX, (name) => {
  const bare = name.toLowerCase().replace(/[-_]/g, '')
  return SECRET_NAMES.test(bare) ? 'secret' : BODY_NAMES.has(bare) ? 'body' : 'other'
})

/**
 * The value if it is plain, or a replacement. Unknown classes are dropped: a pg client, a request
 * or a socket contains passwords and bodies.
 */
function plain(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return cut(value, TEXT_MAX)
  // As text: JSON readers would round what is above 2^53.
  if (typeof value === 'bigint') return value.toString()
  if (typeof value === 'function' || typeof value === 'symbol') return undefined
  if (typeof value !== 'object' || value === null) return value
  if (depth >= DEPTH_MAX) return '[deeper]'
  if (value instanceof Error) return plainError(value, depth + 1)
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
  if (Array.isArray(value)) {
    return value.slice(0, ITEMS_MAX).map((item) => plain(item, depth + 1))
  }
  if (value instanceof Masked || value instanceof Date || value instanceof URL) {
    return value.toJSON()
  }
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) {
    return `[${prototype.constructor?.name ?? 'object'}]`
  }
  return plainFields(value as LogFields, depth + 1)
}

function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max)}… (${text.length} characters)`
}

/**
 * Logs a fixed list of members, because libraries attach requests, queries and parameters to
 * errors.
 */
function plainError(error: Error, depth: number): Record<string, unknown> {
  // JSON.parse quotes the text that it could not parse, which may be a prompt.
  const message = error instanceof SyntaxError ? NOT_LOGGED : cut(error.message, TEXT_MAX)
  const frames = error.stack?.indexOf('\n    at ') ?? -1
  const members = error as unknown as Readonly<Record<string, unknown>>
  const short = ['code', 'constraint', 'table'].flatMap((name) =>
    typeof members[name] === 'string' ? [[name, members[name]]] : [],
  )
  const { detail } = members
  return {
    type: error.name,
    message,
    ...Object.fromEntries(short),
    // PostgreSQL's own `detail` is a sentence that quotes the row; a refusal's is our object.
    ...(typeof detail === 'object' && detail !== null ? { detail: plain(detail, depth) } : {}),
    stack: frames < 0 ? undefined : cut(error.stack?.slice(frames + 1) ?? '', STACK_MAX),
    ...(error.cause === undefined ? {} : { cause: plain(error.cause, depth) }),
  }
}

function scrubber(slug: string): (line: string) => string {
  const patterns: readonly (readonly [RegExp, string])[] = [
    [new RegExp(`sk-${slug}-[\\w-]+`, 'g'), `sk-${slug}-${DOTS}`],
    [/\bsk-[a-z0-9]{2,20}-[\w-]{16,}/g, `sk-${DOTS}`],
    [/\b(bearer|basic) +[\w.~+/=-]{8,}/gi, `$1 ${DOTS}`],
    // The password in a URL.
    [/(:\/\/[^\s:@/"\\]*):[^\s@/"\\]+@/g, `$1:${DOTS}@`],
  ]
  return (line) =>
    patterns.reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), line)
}

function prettyLine(line: string): string {
  const { level, time, msg = '', err, ...rest } = JSON.parse(line) as Record<string, unknown>
  const fields = Object.entries(rest).map(
    ([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  const { type, message, stack } = (err ?? {}) as Record<string, unknown>
  const failure = err === undefined ? '' : `\n  ${type}: ${message}\n${stack ?? ''}`
  const start = `${String(time).slice(11, 23)} ${String(level).padEnd(5)} ${msg}`
  return `${start}${fields.join('')}${failure}\n`
}
