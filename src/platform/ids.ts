// Ids. Only this file and keys/secret.ts draw random numbers.
//
// A request and its hold share one id: a request has at most one hold, so a second id would only
// have to be joined. The id is a UUIDv7 whose twelve `rand_a` bits contain the cell, so that every
// id names the cell of its book; its 48 time bits contain the day, which is the key of the hold's
// partition. `req_…` is the same id in the format that clients see. Orders (`pay_…`), refunds
// (`rfd_…`), receipts (`rcp_…`) and disputes (`dsp_…`) are such ids too, in one format everywhere:
// in the database, as the provider's idempotence key, as the ledger's reference, in the cabinet.
import { randomBytes } from 'node:crypto'
import { assert } from './assert.ts'

declare const brand: unique symbol
type Branded<T, B extends string> = T & { readonly [brand]: B }

export type AccountId = Branded<string, 'account'>
export type BookId = Branded<bigint, 'book'>
export type HoldId = Branded<string, 'hold'>
export type RequestId = Branded<string, 'request'>
export type OrderId = Branded<string, 'order'>
export type RefundId = Branded<string, 'refund'>
export type DisputeId = Branded<string, 'dispute'>
export type ReceiptId = Branded<string, 'receipt'>
/** Random at each start of a process; names it in holds and heartbeats. */
export type InstanceId = Branded<bigint, 'instance'>

export const CELL_MAX = 4095
const SERIAL_BITS = 40n
const DAY_MS = 86_400_000

// Random bytes are drawn 4 KiB at a time: one system call for 512 ids instead of one for each.
const POOL_BYTES = 4096
const pool = { bytes: Buffer.alloc(0), at: 0 }

function randomFrom(count: number): Buffer {
  if (pool.at + count > pool.bytes.length) {
    pool.bytes = randomBytes(POOL_BYTES)
    pool.at = 0
  }
  const taken = pool.bytes.subarray(pool.at, pool.at + count)
  pool.at += count
  return taken
}

/** An account's id: 96 random bits, without a cell, because accounts are in the home database. */
export function newAccountId(): AccountId {
  return `acc_${randomText(12)}` as AccountId
}

/** A book's id: the cell in the high bits, a serial number of that cell in the low ones. */
export function bookId(cell: number, serial: bigint): BookId {
  assert(Number.isInteger(cell) && cell >= 0 && cell <= CELL_MAX, `cell ${cell} is out of range`)
  assert(serial > 0n && serial < 1n << SERIAL_BITS, `serial ${serial} is out of range`)
  return ((BigInt(cell) << SERIAL_BITS) | serial) as BookId
}

export function cellOfBook(book: BookId): number {
  return Number(book >> SERIAL_BITS)
}

/** A new hold id: time, cell and 62 random bits, as a UUIDv7. */
export function newHoldId(cell: number, nowMs: number): HoldId {
  assert(Number.isInteger(cell) && cell >= 0 && cell <= CELL_MAX, `cell ${cell} is out of range`)
  const time = nowMs.toString(16).padStart(12, '0')
  const front = `${time.slice(0, 8)}-${time.slice(8)}-7${cell.toString(16).padStart(3, '0')}`
  const random = randomFrom(8)
  // The variant bits (10) of RFC 9562 sit on top of the random part.
  random[0] = ((random[0] as number) & 0x3f) | 0x80
  const tail = random.toString('hex')
  return `${front}-${tail.slice(0, 4)}-${tail.slice(4)}` as HoldId
}

/** When a hold id was made, by the clock of the process that made it. */
export function timeOfHold(id: HoldId): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
}

/** The day inside a hold id, in days since 1970: the key of its partition. */
export function dayOfHold(id: HoldId): number {
  return Math.floor(timeOfHold(id) / DAY_MS)
}

export function cellOfHold(id: HoldId): number {
  return Number.parseInt(id.slice(15, 18), 16)
}

/** A hold's id in the format that clients see. */
export function requestIdOf(id: HoldId): RequestId {
  const parts = `${id.slice(0, 8)}${id.slice(9, 13)}${id.slice(14, 18)}${id.slice(19, 23)}`
  return `req_${parts}${id.slice(24)}` as RequestId
}

/** The hold id behind a request id; undefined when the text is not one of ours. */
export function holdIdOf(request: string): HoldId | undefined {
  const match =
    /^req_([0-9a-f]{8})([0-9a-f]{4})(7[0-9a-f]{3})([89ab][0-9a-f]{3})([0-9a-f]{12})$/.exec(request)
  return match === null ? undefined : (match.slice(1).join('-') as HoldId)
}

/** `pay_` and 32 digits: within the 36 characters that every provider takes as a reference. */
export function newOrderId(cell: number, nowMs: number): OrderId {
  return spelt('pay', cell, nowMs) as OrderId
}

export function newRefundId(cell: number, nowMs: number): RefundId {
  return spelt('rfd', cell, nowMs) as RefundId
}

export function newDisputeId(cell: number, nowMs: number): DisputeId {
  return spelt('dsp', cell, nowMs) as DisputeId
}

export function newReceiptId(cell: number, nowMs: number): ReceiptId {
  return spelt('rcp', cell, nowMs) as ReceiptId
}

function spelt(prefix: string, cell: number, nowMs: number): string {
  return `${prefix}_${newHoldId(cell, nowMs).replaceAll('-', '')}`
}

export function isOrderId(text: string): text is OrderId {
  return /^pay_[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/.test(text)
}

export function cellOfOrder(id: OrderId): number {
  return Number.parseInt(id.slice(17, 20), 16)
}

export function newInstanceId(): InstanceId {
  return (randomFrom(8).readBigUInt64BE() >> 1n) as InstanceId
}

/** Random bytes as base64url, for public ids and one-time codes. */
export function randomText(bytes: number): string {
  return Buffer.from(randomFrom(bytes)).toString('base64url')
}

/** No 0, 1, i, l, o: people copy these texts from paper. */
const UNMISTAKABLE = '23456789abcdefghjkmnpqrstuvwxyz'

/** Random characters that do not look alike; 4.95 bits each. */
export function randomReadableText(length: number): string {
  const { length: count } = UNMISTAKABLE
  // A byte above the last multiple of 31 would make the first characters more likely.
  const usable = 256 - (256 % count)
  const text: string[] = []
  while (text.length < length) {
    const [byte = 0] = randomFrom(1)
    if (byte < usable) text.push(UNMISTAKABLE.charAt(byte % count))
  }
  return text.join('')
}
