// Reads requests with llhttp, the parser of Node itself, in the form undici carries: WebAssembly,
// renewed with every flaw that is found in it. Strict, as there: what is in doubt is refused, so
// that no edge before us reads a request differently. Heads and chunked bodies pass through it; a
// body of known length need not. Nothing of ours is called from inside it: it says what it found,
// and who asked acts on that.
import { createRequire } from 'node:module'
import { nameOf } from './headers.ts'

/** No door of undici's; its version is pinned, and tests compare what it reads with node:http. */
const wasm: Uint8Array = createRequire(import.meta.url)('undici/lib/llhttp/llhttp_simd-wasm.js')

/** What is copied into its memory at once. A head has a kilobyte; a body behind it stays here. */
const HEAD_PIECE_BYTES = 2_048
const PIECE_BYTES = 65_536
/** A client sends two dozen; who sends more than this wants memory, not an answer. */
const HEADERS_MAX = 1_000
/** Idle parsers kept for the next head that comes in two parts. */
const SPARE_MAX = 256

const SPACE = 0x20
const TAB = 0x09

const REQUEST = 1
// What callbacks answer to llhttp, and it to us.
const OK = 0
const SKIP_BODY = 1
const PAUSED = 21
const USER_ERROR = 24

type Llhttp = {
  readonly memory: { readonly buffer: ArrayBuffer }
  _initialize(): void
  malloc(bytes: number): number
  llhttp_alloc(type: number): number
  llhttp_free(parser: number): void
  llhttp_reset(parser: number): void
  llhttp_resume(parser: number): void
  llhttp_execute(parser: number, at: number, bytes: number): number
  llhttp_get_error_pos(parser: number): number
  llhttp_get_method(parser: number): number
  llhttp_get_http_major(parser: number): number
  llhttp_get_http_minor(parser: number): number
  llhttp_method_name(method: number): number
}

/** What of it is used here; the types of Node leave it to those of browsers. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object, imports: object) => { readonly exports: unknown }
}

/**
 * `head`: the head is read, a body in chunks follows, `read` on. `whole`: the head is read, and a
 * body in chunks if there is one; what follows is a body of known length, or the next request.
 */
export type Found = 'more' | 'head' | 'whole' | 'malformed' | 'overflow'

export type Parsers = { take(): Parser; give(parser: Parser): void }

/** As many parsers as there are requests in the middle of their head or of their chunks. */
export function createParsers(): Parsers {
  const machine = new Machine()
  const spares: Parser[] = []
  return {
    take: () => spares.pop() ?? new Parser(machine),
    /** To be called once, when the request is read or nobody wants it any more. */
    give(parser) {
      if (spares.length === SPARE_MAX) parser.free()
      else {
        parser.reset()
        spares.push(parser)
      }
    },
  }
}

/** llhttp, its memory, and what it is just reading: a piece of a chunk for one parser. */
class Machine {
  readonly llhttp: Llhttp
  private readonly input: number
  private memory: Buffer
  private parser: Parser | undefined
  /** The piece, of which names and values are slices: 30 calls into Node less. */
  private text = ''
  /** What to add to a place in llhttp's memory for the place in the chunk. */
  private offset = 0
  /** Names of methods by llhttp's number; each is spelt out once. */
  private readonly methods: string[] = []

  constructor() {
    const part = (at: number, bytes: number) =>
      this.text.slice(at - this.input, at - this.input + bytes)
    const told = () => this.parser as Parser
    const env = {
      wasm_on_message_begin: () => OK,
      wasm_on_url: (_: number, at: number, bytes: number) => told().onUrl(part(at, bytes)),
      wasm_on_status: () => OK,
      wasm_on_header_field: (_: number, at: number, bytes: number) =>
        told().onName(part(at, bytes)),
      wasm_on_header_value: (_: number, at: number, bytes: number) =>
        told().onValue(part(at, bytes)),
      wasm_on_headers_complete: (_: number, __: number, ___: number, isKeepAlive: number) =>
        told().onHead(isKeepAlive === 1),
      wasm_on_body: (_: number, at: number, bytes: number) =>
        told().onBody(at + this.offset, bytes),
      wasm_on_message_complete: () => told().onWhole(),
    }
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(wasm), { env })
    this.llhttp = exports as Llhttp
    this.llhttp._initialize()
    this.input = this.llhttp.malloc(PIECE_BYTES)
    this.memory = Buffer.from(this.llhttp.memory.buffer)
  }

  /** Reads a piece of the chunk; says what llhttp answers and how far it came. */
  read(parser: Parser, pointer: number, chunk: Buffer, from: number): number {
    const bytesMax = parser.hasHead ? PIECE_BYTES : HEAD_PIECE_BYTES
    const to = Math.min(from + bytesMax, chunk.length)
    // A new parser may have made the memory grow, which leaves the old view of it empty.
    if (this.memory.length === 0) this.memory = Buffer.from(this.llhttp.memory.buffer)
    chunk.copy(this.memory, this.input, from, to)
    if (!parser.hasHead) this.text = chunk.toString('latin1', from, to)
    this.parser = parser
    this.offset = from - this.input
    const result = this.llhttp.llhttp_execute(pointer, this.input, to - from)
    parser.at = result === OK ? to : this.llhttp.llhttp_get_error_pos(pointer) + this.offset
    return result
  }

  methodOf(pointer: number): string {
    const number = this.llhttp.llhttp_get_method(pointer)
    const known = this.methods[number]
    if (known !== undefined) return known
    const at = this.llhttp.llhttp_method_name(number)
    const name = this.memory.toString('latin1', at, this.memory.indexOf(0, at))
    this.methods[number] = name
    return name
  }
}

/** Reads one request. */
export class Parser {
  url = ''
  /** Names and values in turn, as they come until the head is read; then tidy. */
  fields: string[] = []
  isKeepAlive = false
  isChunked = false
  hasHead = false
  /** How far into its chunk the last `read` came. */
  at = 0
  /** Pieces of the body that the last `read` found: where each begins and ends, in turn. */
  readonly pieces: number[] = []
  private readonly machine: Machine
  private readonly pointer: number
  private isInValue = true
  private isWhole = false
  private isOverflown = false

  constructor(machine: Machine) {
    this.machine = machine
    this.pointer = machine.llhttp.llhttp_alloc(REQUEST)
  }

  free(): void {
    this.machine.llhttp.llhttp_free(this.pointer)
  }

  reset(): void {
    this.machine.llhttp.llhttp_reset(this.pointer)
    this.url = ''
    this.fields = []
    this.isKeepAlive = false
    this.isChunked = false
    this.hasHead = false
    this.isInValue = true
    this.isWhole = false
    this.isOverflown = false
  }

  get method(): string {
    return this.machine.methodOf(this.pointer)
  }

  get isOldVersion(): boolean {
    return this.machine.llhttp.llhttp_get_http_minor(this.pointer) === 0
  }

  read(chunk: Buffer, from: number): Found {
    this.pieces.length = 0
    this.at = from
    while (this.at < chunk.length) {
      const result = this.machine.read(this, this.pointer, chunk, this.at)
      if (result === PAUSED) {
        if (this.isWhole) return 'whole'
        this.machine.llhttp.llhttp_resume(this.pointer)
        return 'head'
      }
      if (result !== OK) return this.isOverflown ? 'overflow' : 'malformed'
    }
    return 'more'
  }

  // ── what llhttp tells while it reads ──

  onUrl(part: string): number {
    this.url += part
    return OK
  }

  /** A name or value may come in parts. */
  onName(part: string): number {
    if (this.hasHead) return OK // of a trailer, which nobody reads
    const { fields } = this
    if (this.isInValue) fields.push(part)
    else fields[fields.length - 1] += part
    this.isInValue = false
    this.isOverflown = fields.length > 2 * HEADERS_MAX
    return this.isOverflown ? USER_ERROR : OK
  }

  onValue(part: string): number {
    if (this.hasHead) return OK
    const { fields } = this
    if (this.isInValue) fields[fields.length - 1] += part
    else fields.push(part)
    this.isInValue = true
    return OK
  }

  onHead(isKeepAlive: boolean): number {
    const { llhttp } = this.machine
    const major = llhttp.llhttp_get_http_major(this.pointer)
    if (major !== 1 || llhttp.llhttp_get_http_minor(this.pointer) > 1) return USER_ERROR
    this.isKeepAlive = isKeepAlive
    this.hasHead = true
    const framing = tidy(this.fields)
    if (framing === 'doubtful') return USER_ERROR
    this.isChunked = framing === 'chunked'
    // Of the other bodies llhttp has checked the length, and we count.
    return this.isChunked ? PAUSED : SKIP_BODY
  }

  onBody(from: number, bytes: number): number {
    this.pieces.push(from, from + bytes)
    return OK
  }

  onWhole(): number {
    this.isWhole = true
    return PAUSED
  }
}

/**
 * Makes names lower case and takes away the spaces behind values. Says how the body ends: llhttp
 * has its own opinion, which differs from one version to the next for an empty encoding, so that
 * only the one form every client uses is believed.
 */
function tidy(fields: string[]): 'chunked' | 'length' | 'doubtful' {
  let encodings = 0
  let lengths = 0
  let isChunked = true
  for (let i = 0; i < fields.length; i += 2) {
    const name = nameOf(fields[i] as string)
    fields[i] = name
    const value = fields[i + 1] as string
    const last = value.charCodeAt(value.length - 1)
    if (last === SPACE || last === TAB) fields[i + 1] = value.replace(/[ \t]+$/, '')
    if (name === 'content-length') lengths += 1
    else if (name === 'transfer-encoding') {
      encodings += 1
      isChunked = (fields[i + 1] as string).toLowerCase() === 'chunked'
    }
  }
  if (encodings === 0) return lengths < 2 ? 'length' : 'doubtful'
  return encodings === 1 && lengths === 0 && isChunked ? 'chunked' : 'doubtful'
}
