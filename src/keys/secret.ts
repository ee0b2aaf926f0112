// What a key is made of, and what can be told from its text alone. An issued key ends in a keyed
// tag, so a made-up one is recognised in microseconds, before any query and any Argon2id. Whether
// a key is in force is the database's knowledge, not this file's.
import {
  createHmac,
  createSecretKey,
  hash,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'
import { assert } from '../platform/assert.ts'
import { CELL_MAX } from '../platform/ids.ts'
import type { Masked } from '../platform/masked.ts'

declare const brand: unique symbol
/** `key_`, two characters of the cell, twelve of the public id. Public: it opens nothing. */
export type KeyId = string & { readonly [brand]: 'key' }

export type NewKey = { readonly keyId: KeyId; readonly plain: string; readonly last4: string }

export type Reading =
  /** The shape and the tag are right: we made this key, or someone has our tag secret. */
  | { readonly kind: 'issued'; readonly keyId: KeyId }
  | { readonly kind: 'imported'; readonly lookup: Buffer }
  /** The shape of an issued key with a tag that is not ours. */
  | { readonly kind: 'forged' }
  | { readonly kind: 'malformed' }

/**
 * The longest text that is looked at. An issued key has 68 characters after its prefix; keys of
 * other services have up to some 200. Beyond, hashing would be work for nothing.
 */
export const KEY_LENGTH_MAX = 256
/** Of base64url, 24 characters are 144 bits: twelve to find the key by, twelve kept from us. */
export const IMPORTED_SECRET_MIN = 24
const LOOKUP_LENGTH = 12
const LOOKUP_BYTES = 16

const CELL_LENGTH = 2
const PUBLIC_BYTES = 9
const SECRET_BYTES = 32
const TAG_BYTES = 8
// Base64url of 9, 32 and 8 bytes.
const ID_LENGTH = CELL_LENGTH + 12
const TAG_LENGTH = 11
const BODY_LENGTH = ID_LENGTH + 43 + TAG_LENGTH

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const SPELLING = /^[A-Za-z0-9_-]+$/

/** The cell in a key's id: where its book lives. */
export function cellOfKey(keyId: KeyId): number {
  return ALPHABET.indexOf(keyId.charAt(4)) * 64 + ALPHABET.indexOf(keyId.charAt(5))
}

export function isKeyId(text: string): text is KeyId {
  return text.length === 4 + ID_LENGTH && text.startsWith('key_') && SPELLING.test(text)
}

export function createSecrets(options: {
  readonly slug: string
  readonly cell: number
  readonly tagSecret: Masked<string>
  readonly lookupSecret: Masked<string>
}) {
  const { cell } = options
  assert(Number.isInteger(cell) && cell >= 0 && cell <= CELL_MAX, `cell ${cell} is out of range`)
  const cellText = ALPHABET.charAt(cell >> 6) + ALPHABET.charAt(cell & 63)
  const issuedPrefix = `sk-${options.slug}-api03-`
  const importedPrefix = `sk-${options.slug}-03-`
  const tagKey = keyObject(options.tagSecret)
  const lookupKey = keyObject(options.lookupSecret)
  // Of this process alone, so that what a cache remembers means nothing outside it.
  const digestKey = randomBytes(32).toString('base64url')

  function publicId(): string {
    return cellText + randomBytes(PUBLIC_BYTES).toString('base64url')
  }

  /** Over the prefix too: a key of another slug under the same secret is not ours. */
  function tagOf(untagged: string): Buffer {
    const tag = createHmac('sha256', tagKey).update(untagged).digest().subarray(0, TAG_BYTES)
    return Buffer.from(tag.toString('base64url'), 'latin1')
  }

  function readIssued(plain: string): Reading {
    const body = plain.slice(issuedPrefix.length)
    if (body.length !== BODY_LENGTH || !SPELLING.test(body)) return { kind: 'malformed' }
    // Compared as written: base64url has several spellings of one value, and only ours is right.
    const given = Buffer.from(body.slice(-TAG_LENGTH), 'latin1')
    if (!timingSafeEqual(given, tagOf(plain.slice(0, -TAG_LENGTH)))) return { kind: 'forged' }
    return { kind: 'issued', keyId: `key_${body.slice(0, ID_LENGTH)}` as KeyId }
  }

  function readImported(plain: string): Reading {
    const secret = plain.slice(importedPrefix.length)
    if (secret.length < IMPORTED_SECRET_MIN || !SPELLING.test(secret)) return { kind: 'malformed' }
    const lookup = createHmac('sha256', lookupKey).update(secret.slice(0, LOOKUP_LENGTH)).digest()
    return { kind: 'imported', lookup: lookup.subarray(0, LOOKUP_BYTES) }
  }

  return {
    /** A new key of this cell. The only moment its plain value exists on our side. */
    make(): NewKey {
      const id = publicId()
      const untagged = issuedPrefix + id + randomBytes(SECRET_BYTES).toString('base64url')
      const plain = untagged + tagOf(untagged).toString('latin1')
      return { keyId: `key_${id}` as KeyId, plain, last4: last4Of(plain) }
    },

    /** An id for an imported key, whose own text has no public part. */
    makeId: () => `key_${publicId()}` as KeyId,

    /** What the text of a key tells. Costs at most one HMAC, some 3 µs. */
    read(plain: string): Reading {
      if (plain.length > KEY_LENGTH_MAX) return { kind: 'malformed' }
      if (plain.startsWith(issuedPrefix)) return readIssued(plain)
      if (plain.startsWith(importedPrefix)) return readImported(plain)
      return { kind: 'malformed' }
    },

    /**
     * The name a cache knows a key by. A hash with a secret prefix, at 0.7 µs; HMAC takes 2.9 and
     * adds only what matters when digests are shown to someone, and these never are.
     */
    digest: (plain: string) =>
      // One character beyond the limit is enough to tell a text that is too long from every key.
      hash('sha256', digestKey + plain.slice(0, KEY_LENGTH_MAX + 1), 'latin1'),
  }
}

export type Secrets = ReturnType<typeof createSecrets>

export function last4Of(plain: string): string {
  return plain.slice(-4)
}

function keyObject(secret: Masked<string>): KeyObject {
  return createSecretKey(Buffer.from(secret.reveal(), 'utf8'))
}
