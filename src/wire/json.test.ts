// The cursor accepts what JSON.parse accepts, except that it does not check the inside of strings
// and limits the depth.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { BrokenJson, cursorAt, DEPTH_MAX, expectEnd, skipValue } from './json.ts'

function isAccepted(text: string): boolean {
  const cursor = cursorAt(Buffer.from(text))
  try {
    skipValue(cursor)
    expectEnd(cursor)
    return true
  } catch (error) {
    if (error instanceof BrokenJson) return false
    throw error
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

test('skips every JSON text to its end', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), fc.constantFrom('', ' ', '\r\n\t '), (json, space) => {
      const spaced = JSON.stringify(JSON.parse(json), null, space)
      assert.equal(isAccepted(`${space}${json}${space}`), true)
      assert.equal(isAccepted(spaced), true)
    }),
  )
})

test('rejects a text with one character changed exactly when JSON.parse does', () => {
  // Words without escapes or control characters, because the inside of strings is not checked.
  const word = fc.stringMatching(/^[a-z]{0,30}$/)
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 4 },
      word,
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.constantFrom(true, false, null),
      fc.array(tie('any'), { maxLength: 4 }),
      fc.dictionary(word, tie('any'), { maxKeys: 4 }),
    ),
  })).any
  const change = fc.constantFrom(...'{}[],:"0159.eE+-tfn ', '')
  fc.assert(
    fc.property(value, fc.nat(), change, fc.boolean(), (json, place, put, insert) => {
      const text = JSON.stringify(json)
      const at = place % (text.length + 1)
      const changed = text.slice(0, at) + put + text.slice(insert ? at : at + 1)
      assert.equal(isAccepted(changed), isJson(changed), changed)
    }),
    { numRuns: 2_000 },
  )
})

const numbers = ['0', '-0', '1e3', '1.0', '-1.5E+10', '12345678901234567890']
const notNumbers = ['01', '.5', '1.', '+1', '1e', '-', '0x1', 'NaN', 'Infinity']

test('numbers follow the grammar of JSON', () => {
  for (const text of numbers) assert.equal(isAccepted(text), true, text)
  for (const text of notNumbers) assert.equal(isAccepted(text), false, text)
})

test('counts the backslashes before a quote, also far into a string', () => {
  for (let lead = 0; lead < 40; lead += 1) {
    for (let run = 0; run < 6; run += 1) {
      const text = `"${'x'.repeat(lead)}${'\\'.repeat(run)}"`
      assert.equal(isAccepted(text), run % 2 === 0, text)
    }
  }
})

test('accepts nesting up to the limit and not one level more', () => {
  const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
  assert.equal(isAccepted(nested(DEPTH_MAX)), true)
  assert.equal(isAccepted(nested(DEPTH_MAX + 1)), false)
  assert.equal(isAccepted('['.repeat(3_000_000)), false)
})
