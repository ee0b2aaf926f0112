// Reads usage, id, model and stop reason of a reply that is one JSON object while its bytes are
// forwarded, so that a large reply need not be held. Only these four values are kept; everything
// else is skipped, neither copied nor parsed.
//
// A 40 KB reply of prose takes 16 µs, where JSON.parse takes 26; one full of quotes 69 against 67.

import { applyMember, applyUsage, noFacts, type ReplyFacts } from './events.ts'

/** A longer value is ignored: usage with a hundred passes stays under 32 KiB. */
const VALUE_BYTES_MAX = 65_536
const NAME_BYTES_MAX = 32

const keptNames: ReadonlySet<string> = new Set(['id', 'model', 'stop_reason', 'usage'])

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_ARRAY = 0x5b
const BACKSLASH = 0x5c
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

class ReplyMeter {
  readonly facts: ReplyFacts = noFacts()
  /** The object has ended: the reply is complete. */
  isComplete = false

  private depth = 0
  private isInString = false
  /** The previous chunk ended with a backslash that escapes the next byte. */
  private isEscaped = false
  private isInName = false
  private name = ''
  /** Where the value being kept starts in this chunk; NOT_KEEPING when there is none. */
  private from = NOT_KEEPING
  /** How many of its bytes came in earlier chunks. */
  private bytesBefore = 0
  private readonly slices: Buffer[] = []

  /** Reads the next chunk, which may be cut anywhere. */
  push(chunk: Buffer): void {
    if (this.from !== NOT_KEEPING) this.from = 0
    // `indexOf` of a string takes a third of the time of Buffer's, and escaped quotes need many
    // calls.
    const text = chunk.toString('latin1')
    let at = 0
    while (at < chunk.length) {
      if (this.isInString) at = this.scanString(chunk, text, at)
      else {
        this.scanByte(chunk, at)
        at += 1
      }
    }
    if (this.from !== NOT_KEEPING) this.extend(chunk, chunk.length)
  }

  // A quote ends the string unless an odd number of backslashes precedes it.
  private scanString(chunk: Buffer, text: string, start: number): number {
    const from = this.isEscaped ? start + 1 : start
    this.isEscaped = false
    const quote = text.indexOf('"', from)
    const end = quote < 0 ? chunk.length : quote
    let before = end - 1
    while (before >= from && chunk[before] === BACKSLASH) before -= 1
    const escapesNext = ((end - before) & 1) === 0
    if (quote < 0) {
      this.isEscaped = escapesNext
      return chunk.length
    }
    if (!escapesNext) {
      this.isInString = false
      if (this.isInName) this.endName(chunk, text, quote)
    }
    return quote + 1
  }

  private scanByte(chunk: Buffer, at: number): void {
    const byte = chunk[at]
    if (byte === QUOTE) {
      this.isInString = true
      if (this.depth === 1 && this.name === '') this.startName(at + 1)
    } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) this.depth += 1
    else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
      if (this.depth === 1) this.endValue(chunk, at)
      this.depth -= 1
      if (this.depth === 0) this.isComplete = true
    } else if (this.depth === 1) {
      if (byte === COLON && keptNames.has(this.name)) this.from = at + 1
      else if (byte === COMMA) this.endValue(chunk, at)
    }
  }

  private startName(from: number): void {
    this.isInName = true
    this.from = from
  }

  private endName(chunk: Buffer, text: string, at: number): void {
    this.isInName = false
    this.name = this.takeKept(chunk, text, at, NAME_BYTES_MAX) || UNWANTED
  }

  private endValue(chunk: Buffer, at: number): void {
    const { name } = this
    this.name = ''
    const json = this.takeKept(chunk, undefined, at, VALUE_BYTES_MAX)
    if (json === undefined) return
    const plain = plainString(json)
    try {
      if (plain !== undefined) applyMember(this.facts, name, plain)
      else if (name === 'usage') applyUsage(this.facts, JSON.parse(json))
      else applyMember(this.facts, name, JSON.parse(json))
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
    }
  }

  private extend(chunk: Buffer, end: number): void {
    this.bytesBefore += end - this.from
    if (this.bytesBefore > VALUE_BYTES_MAX) this.slices.length = 0
    else this.slices.push(Buffer.from(chunk.subarray(this.from, end)))
  }

  /**
   * Returns the name or value being kept, and stops keeping; undefined when there is none or it is
   * too long. Names are slices of `text`; values are decoded anew, because a slice that is kept
   * would keep the whole reply in memory.
   */
  private takeKept(
    chunk: Buffer,
    text: string | undefined,
    end: number,
    bytesMax: number,
  ): string | undefined {
    const { from } = this
    if (from === NOT_KEEPING) return undefined
    // All of it is in this chunk, as in nearly every reply: no need to join slices, which takes 6
    // µs.
    if (this.bytesBefore === 0) {
      this.from = NOT_KEEPING
      if (end - from > bytesMax) return undefined
      return text === undefined ? chunk.toString('utf8', from, end) : text.slice(from, end)
    }
    this.extend(chunk, end)
    const json =
      this.bytesBefore > bytesMax ? undefined : Buffer.concat(this.slices).toString('utf8')
    this.from = NOT_KEEPING
    this.bytesBefore = 0
    this.slices.length = 0
    return json
  }
}

/** The value of a JSON string without escapes; undefined for anything else. */
function plainString(json: string): string | undefined {
  return /^\s*"([ !#-[\]-\uffff]*)"\s*$/.exec(json)?.[1]
}

const UNWANTED = '?'
const NOT_KEEPING = -1

export type { ReplyMeter }

/** For a reply that is forwarded as it arrives. */
export function createReplyMeter(): ReplyMeter {
  return new ReplyMeter()
}

/** For a reply that is held completely; undefined if it is not a complete JSON object. */
export function readReply(body: Buffer): ReplyFacts | undefined {
  const meter = createReplyMeter()
  meter.push(body)
  return meter.isComplete ? meter.facts : undefined
}
