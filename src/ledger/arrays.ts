// Encodes arrays of operations as query parameters. Numbers and ids use PostgreSQL's binary format:
// as text we would format and PostgreSQL would parse each of them, which took a tenth of the time
// that an array costs the database. The rest are array literals: words are short, and the binary
// format needs the type number of an enum, which differs between databases.

// Type numbers that no version of PostgreSQL changes.
const INT8_OID = 20
const INT4_OID = 23
const TEXT_OID = 25
const UUID_OID = 2950

// Four bytes each: number of dimensions, has-nulls flag, element type, length, first subscript.
const HEADER_BYTES = 20
const LENGTH_BYTES = 4
/** In place of a length. */
const NULL = -1

const DASH = 0x2d
const NOT_HEX = 16
const hexDigits = Uint8Array.from({ length: 256 }, (_, code) => {
  const digit = Number.parseInt(String.fromCharCode(code), 16)
  return Number.isNaN(digit) ? NOT_HEX : digit
})

export function int8Array<Input>(inputs: readonly Input[], of: (input: Input) => bigint): Buffer {
  return binaryArray(INT8_OID, 8, inputs, (view, at, input) => {
    const value = of(input)
    // setBigInt64 would truncate to 64 bits without an error.
    if (BigInt.asIntN(64, value) !== value) throw new RangeError(`${value} does not fit int8`)
    view.setBigInt64(at, value)
  })
}

export function int4Array<Input>(inputs: readonly Input[], of: (input: Input) => number): Buffer {
  return binaryArray(INT4_OID, 4, inputs, (view, at, input) => {
    const value = of(input)
    if ((value | 0) !== value) throw new RangeError(`${value} does not fit int4`)
    view.setInt32(at, value)
  })
}

export function uuidArray<Input>(inputs: readonly Input[], of: (input: Input) => string): Buffer {
  return binaryArray(UUID_OID, 16, inputs, (view, at, input) => {
    const text = of(input)
    let position = 0
    for (let i = 0; i < 16; i++) {
      if (text.charCodeAt(position) === DASH) position += 1
      const high = hexDigits[text.charCodeAt(position++)] ?? NOT_HEX
      const low = hexDigits[text.charCodeAt(position++)] ?? NOT_HEX
      if (high === NOT_HEX || low === NOT_HEX) throw new RangeError(`${text} is not a uuid`)
      view.setUint8(at + i, (high << 4) | low)
    }
  })
}

/** Numbers, of which undefined ones are null. */
export function nullableInt4Array(values: readonly (number | undefined)[]): Buffer {
  const given = values.reduce<number>((n, value) => (value === undefined ? n : n + 1), 0)
  const { buffer, view } = arrayBuffer(INT4_OID, values.length, given * 4)
  let at = HEADER_BYTES
  for (const value of values) {
    view.setInt32(at, value === undefined ? NULL : 4)
    at += LENGTH_BYTES
    if (value === undefined) continue
    if ((value | 0) !== value) throw new RangeError(`${value} does not fit int4`)
    view.setInt32(at, value)
    at += 4
  }
  return buffer
}

/** Texts in ASCII, of which undefined ones are null. Others would be written with wrong lengths. */
export function nullableAsciiArray(values: readonly (string | undefined)[]): Buffer {
  const bytes = values.reduce<number>((n, value) => n + (value?.length ?? 0), 0)
  const { buffer, view } = arrayBuffer(TEXT_OID, values.length, bytes)
  let at = HEADER_BYTES
  for (const value of values) {
    view.setInt32(at, value === undefined ? NULL : value.length)
    at += LENGTH_BYTES
    if (value !== undefined) at += buffer.write(value, at, 'latin1')
  }
  return buffer
}

/** For words that need no quotes. */
export function wordArray<Input>(inputs: readonly Input[], of: (input: Input) => string): string {
  return `{${inputs.map(of).join(',')}}`
}

export function textArray<Input>(
  inputs: readonly Input[],
  of: (input: Input) => string | null,
): string {
  return wordArray(inputs, (input) => quoted(of(input)))
}

/** An element of a text array; null is the unquoted word. */
function quoted(text: string | null): string {
  return text === null ? 'null' : `"${text.replace(/[\\"]/g, '\\$&')}"`
}

function binaryArray<Input>(
  oid: number,
  bytes: number,
  inputs: readonly Input[],
  write: (view: DataView, at: number, input: Input) => void,
): Buffer {
  const { buffer, view } = arrayBuffer(oid, inputs.length, inputs.length * bytes)
  let at = HEADER_BYTES
  for (let i = 0; i < inputs.length; i++) {
    view.setInt32(at, bytes)
    write(view, at + LENGTH_BYTES, inputs[i] as Input)
    at += LENGTH_BYTES + bytes
  }
  return buffer
}

/** A buffer for so many elements of so many bytes together, with its header. */
function arrayBuffer(oid: number, length: number, bytes: number) {
  const buffer = Buffer.allocUnsafe(HEADER_BYTES + length * LENGTH_BYTES + bytes)
  const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.length)
  // PostgreSQL ignores the has-nulls flag of what it receives.
  const header = [1, 0, oid, length, 1]
  for (let i = 0; i < header.length; i++) view.setInt32(i * 4, header[i] as number)
  return { buffer, view }
}
