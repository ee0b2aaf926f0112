// Seeds in the database: readable with the given secrets, in their own row, and unchanged.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Masked } from '../platform/masked.ts'
import { secretVersionsOf } from '../platform/secret-versions.ts'
import { createEncryption } from './encryption.ts'

const of = (text: string) => createEncryption(secretVersionsOf(new Masked(text)))

test('a text is read by its secret, also beside a successor, and by no other', () => {
  const text = of('former secret').encrypt('a seed', 'opr_1')
  assert.ok(!text.includes('seed'))
  assert.equal(of('former secret').decrypt(text, 'opr_1'), 'a seed')
  const both = of('2:new secret,1:former secret')
  assert.equal(both.decrypt(text, 'opr_1'), 'a seed')
  assert.match(both.encrypt('a seed', 'opr_1'), /^2\$/)
  assert.equal(of('2:new secret,').decrypt(text, 'opr_1'), undefined)
  assert.equal(of('another secret').decrypt(text, 'opr_1'), undefined)
})

test('a text of another operator, or a changed one, is not read', () => {
  const { encrypt, decrypt } = of('a secret')
  const text = encrypt('a seed', 'opr_1')
  assert.notEqual(encrypt('a seed', 'opr_1'), text, 'two texts of one seed differ')
  assert.equal(decrypt(text, 'opr_2'), undefined)
  const changed = `${text.slice(0, 10)}${text[10] === 'A' ? 'B' : 'A'}${text.slice(11)}`
  assert.equal(decrypt(changed, 'opr_1'), undefined)
  for (const broken of ['', '1$', '1$AAAA', 'text']) {
    assert.equal(decrypt(broken, 'opr_1'), undefined)
  }
})
