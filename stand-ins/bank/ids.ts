// Ids in the provider's format: a payment's begins with the seconds since the year 2000 in
// hexadecimal, then a constant part, then random digits. Fiscal and bank numbers are random digits.
import { randomBytes, randomInt, randomUUID } from 'node:crypto'

const year2000Ms = Date.UTC(2000, 0, 1)
const middles = { payment: '000f-5000-8000', refund: '0015-5000-a000' } as const

export function objectId(kind: keyof typeof middles, nowMs: number): string {
  const seconds = Math.floor((nowMs - year2000Ms) / 1000)
  return `${seconds.toString(16).padStart(8, '0')}-${middles[kind]}-${hex(6)}`
}

export const receiptId = () => `rt-${randomUUID()}`
export const errorId = () => randomUUID()
export const confirmationWord = () => `ct-${objectId('payment', Date.now())}`

/** An operation number of the national system behind SBP. */
export const sbpOperationId = () => hex(16).toUpperCase()

export function digits(count: number): string {
  return Array.from({ length: count }, () => randomInt(10)).join('')
}

export function hex(bytes: number): string {
  return randomBytes(bytes).toString('hex')
}
