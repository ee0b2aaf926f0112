// The codes of authenticator apps: RFC 6238 with SHA-1, six digits and 30 seconds, which every app
// knows.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { randomText } from '../../platform/ids.ts'

const STEP_MS = 30_000
/** SHA-1's own length, as RFC 4226 recommends. */
const SEED_BYTES = 20
/** The code before and the one after count too: phones differ by some seconds, and people type. */
const STEPS_OFF = [0, -1, 1]
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** A new seed, in the Base32 that apps accept when it is typed. */
export function newSeed(): string {
  return base32Of(Buffer.from(randomText(SEED_BYTES), 'base64url'))
}

/** What the QR code contains. */
export function seedUri(p: {
  readonly seed: string
  readonly issuer: string
  readonly email: string
}): string {
  const label = `${encodeURIComponent(p.issuer)}:${encodeURIComponent(p.email)}`
  const query = new URLSearchParams({ secret: p.seed, issuer: p.issuer })
  return `otpauth://totp/${label}?${query.toString().replaceAll('+', '%20')}`
}

/** The 30 seconds whose code this is, near this moment; undefined for a wrong code. */
export function stepOf(seed: string, code: string, nowMs: number): bigint | undefined {
  const now = Math.floor(nowMs / STEP_MS)
  const given = Buffer.from(code)
  for (const off of STEPS_OFF) {
    const expected = Buffer.from(codeAt(seed, now + off))
    if (given.length === expected.length && timingSafeEqual(given, expected)) {
      return BigInt(now + off)
    }
  }
  return undefined
}

/** The code of the 30 seconds of a moment. */
export function totpCode(seed: string, nowMs: number): string {
  return codeAt(seed, Math.floor(nowMs / STEP_MS))
}

function codeAt(seed: string, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const digest = createHmac('sha1', bytesOf(seed)).update(counter).digest()
  const offset = (digest.at(-1) ?? 0) & 0xf
  const number = digest.readUInt32BE(offset) & 0x7fffffff
  return String(number % 1_000_000).padStart(6, '0')
}

function base32Of(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  const groups = bits.match(/.{1,5}/g) ?? []
  return groups.map((group) => BASE32.charAt(Number.parseInt(group.padEnd(5, '0'), 2))).join('')
}

function bytesOf(base32: string): Buffer {
  const bits = [...base32].map((one) => BASE32.indexOf(one).toString(2).padStart(5, '0')).join('')
  const bytes = bits.match(/.{8}/g) ?? []
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)))
}
