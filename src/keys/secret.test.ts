// Tests of the text of a key: its parts, its tag, and what is refused without a query.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { Masked } from '../platform/masked.ts'
import { cellOfKey, createSecrets } from './secret.ts'

function secrets(changes: { slug?: string; cell?: number; tagSecret?: Masked<string> } = {}) {
  return createSecrets({
    slug: 'vendor',
    cell: 0,
    tagSecret: new Masked('a tag secret'),
    lookupSecret: new Masked('a lookup secret'),
    ...changes,
  })
}

const imported = `sk-vendor-03-${'abcdefghijklmnopqrstuvwxyz0123456789'}`

test('issues a key of prefix, cell, public id, 256 bits and a tag over all of it', () => {
  const { keyId, plain, last4 } = secrets({ cell: 4095 }).generate()
  const match = /^sk-vendor-api03-(__)([\w-]{12})([\w-]{43})([\w-]{11})$/.exec(plain)
  assert.ok(match !== null)
  const [, cell, publicId, secret, tag] = match
  assert.equal(keyId, `key_${cell}${publicId}`)
  assert.equal(last4, plain.slice(-4))
  assert.equal(Buffer.from(secret ?? '', 'base64url').length, 32)
  const sum = createHmac('sha256', 'a tag secret').update(plain.slice(0, -11)).digest()
  assert.equal(tag, sum.subarray(0, 8).toString('base64url'))
})

test('generates a new id and a new secret for each key', () => {
  const one = secrets()
  const [first, second] = [one.generate(), one.generate()]
  assert.notEqual(first.keyId, second.keyId)
  assert.notEqual(first.plain.slice(30, 73), second.plain.slice(30, 73))
})

test('reads the cell of the book from the key id', () => {
  for (const cell of [0, 1, 63, 64, 2047, 4095]) {
    assert.equal(cellOfKey(secrets({ cell }).generate().keyId), cell)
  }
  assert.throws(() => secrets({ cell: 4096 }), /out of range/)
})

test('recognises a key that another process with the same secret issued', () => {
  const { plain, keyId } = secrets({ cell: 7 }).generate()
  assert.deepEqual(secrets().parse(plain), { kind: 'issued', keyId })
})

test('refuses a key with any one character changed', () => {
  const one = secrets()
  const { plain } = one.generate()
  for (let at = 0; at < plain.length; at++) {
    const other = plain.charAt(at) === 'A' ? 'B' : 'A'
    const { kind } = one.parse(plain.slice(0, at) + other + plain.slice(at + 1))
    assert.equal(kind, at < 'sk-vendor-api03-'.length ? 'malformed' : 'forged')
  }
})

test('refuses a key of another slug or another tag secret', () => {
  const other = secrets({ slug: 'other' }).generate().plain
  assert.equal(secrets().parse(other).kind, 'malformed')
  const renamed = other.replace('sk-other-', 'sk-vendor-')
  assert.equal(secrets().parse(renamed).kind, 'forged')
  const { plain } = secrets({ tagSecret: new Masked('another') }).generate()
  assert.equal(secrets().parse(plain).kind, 'forged')
})

test('refuses keys of the wrong length or with other characters as malformed', () => {
  const one = secrets()
  const { plain } = one.generate()
  const wrong = [
    '',
    'sk-vendor-api03-',
    plain.slice(0, -1),
    `${plain}A`,
    `${plain}\n`,
    ` ${plain}`,
    plain.toUpperCase(),
    `${plain.slice(0, 40)}é${plain.slice(41)}`,
    `${plain.slice(0, 40)}=${plain.slice(41)}`,
    imported.slice(0, 'sk-vendor-03-'.length + 23),
    `sk-vendor-03-${'a'.repeat(23)}.`,
    `sk-vendor-03-${'a'.repeat(244)}`,
  ]
  for (const text of wrong) assert.deepEqual(one.parse(text), { kind: 'malformed' }, text)
  assert.equal(one.parse(`sk-vendor-03-${'a'.repeat(243)}`).kind, 'imported')
})

test('looks imported keys up by a keyed digest of their first twelve characters', () => {
  const lookup = (plain: string) => {
    const parsed = secrets().parse(plain)
    assert.equal(parsed.kind, 'imported')
    return 'lookups' in parsed ? parsed.lookups[0].digest.toString('hex') : ''
  }
  const sum = createHmac('sha256', 'a lookup secret').update('abcdefghijkl').digest()
  assert.equal(lookup(imported), sum.subarray(0, 16).toString('hex'))
  assert.equal(lookup(`${imported}-and-more`), lookup(imported))
  assert.notEqual(lookup(imported.replace('abc', 'abd')), lookup(imported))
})

test('computes different cache digests in different processes', () => {
  const [one, two] = [secrets(), secrets()]
  const { plain } = one.generate()
  assert.equal(one.digest(plain), one.digest(plain))
  assert.notEqual(one.digest(plain), two.digest(plain))
  assert.equal(one.digest(plain).includes(plain.slice(-8)), false)
})

test('computes another digest for a text that is longer than any key', () => {
  const one = secrets()
  const longest = 'a'.repeat(256)
  assert.notEqual(one.digest(`${longest}a`), one.digest(longest))
})
