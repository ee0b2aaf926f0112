// Generates and parses the text of keys. An issued key ends in a keyed tag, so a made-up one is
// recognised in microseconds, before any query and any Argon2id. Only the database knows whether a
// key is active.
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
import { secretVersionsOf } from '../platform/secret-versions.ts'

declare const brand: unique symbol
/** `key_`, two characters of the cell, twelve of the public id. Not secret. */
export type KeyId = string & { readonly [brand]: 'key' }

export type NewKey = { readonly keyId: KeyId; readonly plain: string; readonly last4: string }

/** A digest for the search of an imported key, and the id of the lookup secret that made it. */
export type Lookup = { readonly secretId: number; readonly digest: Buffer }

export type ParsedKey =
  /** The format and the tag are right: we issued this key, or our tag secret leaked. */
  | { readonly kind: 'issued'; readonly keyId: KeyId }
  /** One lookup for each secret; the first is that of a new key. */
  | { readonly kind: 'imported'; readonly lookups: readonly [Lookup, ...Lookup[]] }
  /** The format of an issued key, with a wrong tag. */
  | { readonly kind: 'forged' }
  | { readonly kind: 'malformed' }

/**
 * Longer texts are refused without hashing. An issued key has 68 characters after its prefix; keys
 * of other services have up to about 200.
 */
export const KEY_LENGTH_MAX = 256
/** 24 characters of base64url are 144 bits: twelve are used for the lookup, twelve stay secret. */
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
const BASE64URL = /^[A-Za-z0-9_-]+$/

/** The cell in a key's id, which contains its book. */
export function cellOfKey(keyId: KeyId): number {
  return ALPHABET.indexOf(keyId.charAt(4)) * 64 + ALPHABET.indexOf(keyId.charAt(5))
}

export function isKeyId(text: string): text is KeyId {
  return text.length === 4 + ID_LENGTH && text.startsWith('key_') && BASE64URL.test(text)
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
  const tagKeys = keyObjects(options.tagSecret)
  const lookupKeys = keyObjects(options.lookupSecret)
  // A new one in each process: the digests in its cache are useless outside it.
  const digestKey = randomBytes(32).toString('base64url')

  function publicId(): string {
    return cellText + randomBytes(PUBLIC_BYTES).toString('base64url')
  }

  /** Includes the prefix, so that a key of another slug with the same secret is refused. */
  function tagOf(untagged: string, { key: tagKey }: SecretKey): Buffer {
    const tag = createHmac('sha256', tagKey).update(untagged).digest().subarray(0, TAG_BYTES)
    return Buffer.from(tag.toString('base64url'), 'latin1')
  }

  function parseIssued(plain: string): ParsedKey {
    const body = plain.slice(issuedPrefix.length)
    if (body.length !== BODY_LENGTH || !BASE64URL.test(body)) return { kind: 'malformed' }
    // Compare the text: base64url can spell one value in several ways, and we issue only one.
    const given = Buffer.from(body.slice(-TAG_LENGTH), 'latin1')
    // The format has no place for the id of a secret, so each secret is tried.
    const untagged = plain.slice(0, -TAG_LENGTH)
    const isOurs = tagKeys.some((key) => timingSafeEqual(given, tagOf(untagged, key)))
    if (!isOurs) return { kind: 'forged' }
    return { kind: 'issued', keyId: `key_${body.slice(0, ID_LENGTH)}` as KeyId }
  }

  function parseImported(plain: string): ParsedKey {
    const secret = plain.slice(importedPrefix.length)
    if (secret.length < IMPORTED_SECRET_MIN || !BASE64URL.test(secret)) return { kind: 'malformed' }
    const start = secret.slice(0, LOOKUP_LENGTH)
    const lookups = lookupKeys.map(({ id: secretId, key }): Lookup => {
      const digest = createHmac('sha256', key).update(start).digest().subarray(0, LOOKUP_BYTES)
      return { secretId, digest }
    })
    return { kind: 'imported', lookups: lookups as [Lookup, ...Lookup[]] }
  }

  return {
    /** Which keys of other services can be imported, in words. */
    importedForm:
      `${importedPrefix} and at least ${IMPORTED_SECRET_MIN} characters of A-Z, a-z, 0-9, - ` +
      `and _, at most ${KEY_LENGTH_MAX} in all`,

    /** A new key of this cell. Its plain value is returned and never stored. */
    generate(): NewKey & { readonly secretId: number } {
      const [maker] = tagKeys
      const id = publicId()
      const untagged = issuedPrefix + id + randomBytes(SECRET_BYTES).toString('base64url')
      const plain = untagged + tagOf(untagged, maker).toString('latin1')
      return { keyId: `key_${id}` as KeyId, plain, last4: last4Of(plain), secretId: maker.id }
    },

    /** An id for an imported key, whose text has no public id. */
    generateId: () => `key_${publicId()}` as KeyId,

    /** Parses the text of a key. Costs at most one HMAC, about 3 µs, for each secret. */
    parse(plain: string): ParsedKey {
      if (plain.length > KEY_LENGTH_MAX) return { kind: 'malformed' }
      if (plain.startsWith(issuedPrefix)) return parseIssued(plain)
      if (plain.startsWith(importedPrefix)) return parseImported(plain)
      return { kind: 'malformed' }
    },

    /**
     * The cache's name for a key: a hash with a secret prefix, which takes 0.7 µs. HMAC takes 2.9
     * and is safer only where digests are published; these never leave the process.
     */
    digest: (plain: string) =>
      // One character beyond the limit distinguishes a text that is too long from every key.
      hash('sha256', digestKey + plain.slice(0, KEY_LENGTH_MAX + 1), 'latin1'),
  }
}

export type Secrets = ReturnType<typeof createSecrets>

export function last4Of(plain: string): string {
  return plain.slice(-4)
}

type SecretKey = { readonly id: number; readonly key: KeyObject }

/** The first makes; all are accepted. */
function keyObjects(text: Masked<string>): readonly [SecretKey, ...SecretKey[]] {
  return secretVersionsOf(text).map(({ id, secret }) => ({
    id,
    key: createSecretKey(Buffer.from(secret.reveal(), 'utf8')),
  })) as unknown as readonly [SecretKey, ...SecretKey[]]
}
