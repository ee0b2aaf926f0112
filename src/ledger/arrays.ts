// Arrays of operations as PostgreSQL takes them. Numbers and ids travel in its binary format: as
// text, each would be spelled here and parsed there, a tenth of what an array costs the database.
// Everything else is an array literal: words are short, and the type number of an enum, which the
// binary format names, is another in every database.

// Type numbers that no version of PostgreSQL changes.
const INT8_OID = 20
const INT4_OID = 23
const UUID_OID = 2950

// Dimensions, whether nulls are among them, type, length, first subscript: four bytes each.
const HEADER_BYTES = 20
const LENGTH_BYTES = 4

const DASH = 0x2d
const NOT_HEX = 16
const hexDigits = Uint8Array.from({ length: 256 }, (_, code) => {
  const digit = Number.parseInt(String.fromCharCode(code), 16)
  return Number.isNaN(digit) ? NOT_HEX : digit
})

export function int8Array<Ask>(asks: readonly Ask[], of: (ask: Ask) => bigint): Buffer {
  return binaryArray(INT8_OID, 8, asks, (view, at, ask) => {
    const value = of(ask)
    // A view would cut it to 64 bits without a word.
    if (BigInt.asIntN(64, value) !== value) throw new RangeError(`${value} does not fit int8`)
    view.setBigInt64(at, value)
  })
}

export function int4Array<Ask>(asks: readonly Ask[], of: (ask: Ask) => number): Buffer {
  return binaryArray(INT4_OID, 4, asks, (view, at, ask) => {
    const value = of(ask)
    if ((value | 0) !== value) throw new RangeError(`${value} does not fit int4`)
    view.setInt32(at, value)
  })
}

export function uuidArray<Ask>(asks: readonly Ask[], of: (ask: Ask) => string): Buffer {
  return binaryArray(UUID_OID, 16, asks, (view, at, ask) => {
    const text = of(ask)
    let place = 0
    for (let i = 0; i < 16; i++) {
      if (text.charCodeAt(place) === DASH) place += 1
      const high = hexDigits[text.charCodeAt(place++)] ?? NOT_HEX
      const low = hexDigits[text.charCodeAt(place++)] ?? NOT_HEX
      if (high === NOT_HEX || low === NOT_HEX) throw new RangeError(`${text} is not a uuid`)
      view.setUint8(at + i, (high << 4) | low)
    }
  })
}

/** For words that need no quotes. */
export function wordArray<Ask>(asks: readonly Ask[], of: (ask: Ask) => string): string {
  return `{${asks.map(of).join(',')}}`
}

export function textArray<Ask>(asks: readonly Ask[], of: (ask: Ask) => string | null): string {
  return wordArray(asks, (ask) => quoted(of(ask)))
}

/** An element of a text array; null is the unquoted word. */
function quoted(text: string | null): string {
  return text === null ? 'null' : `"${text.replace(/[\\"]/g, '\\$&')}"`
}

function binaryArray<Ask>(
  oid: number,
  bytes: number,
  asks: readonly Ask[],
  write: (view: DataView, at: number, ask: Ask) => void,
): Buffer {
  const buffer = Buffer.allocUnsafe(HEADER_BYTES + asks.length * (LENGTH_BYTES + bytes))
  const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.length)
  const header = [1, 0, oid, asks.length, 1]
  for (let i = 0; i < header.length; i++) view.setInt32(i * 4, header[i] as number)
  let at = HEADER_BYTES
  for (let i = 0; i < asks.length; i++) {
    view.setInt32(at, bytes)
    write(view, at + LENGTH_BYTES, asks[i] as Ask)
    at += LENGTH_BYTES + bytes
  }
  return buffer
}
