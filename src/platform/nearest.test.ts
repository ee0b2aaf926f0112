// Tests of the suggested name: typing errors are forgiven, other names are not.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorsBetween, nearest } from './nearest.ts'

const names = ['claude-opus-4-6', 'claude-opus-4-5', 'claude-sonnet-4-6', 'model-small']

test('suggests the name with the fewest typing errors', () => {
  for (const [typed, meant] of [
    ['claude-opus-4-6', 'claude-opus-4-6'],
    ['claude-opus-4.6', 'claude-opus-4-6'],
    ['Claude-Opus-46', 'claude-opus-4-6'],
    ['calude-sonet-4-6', 'claude-sonnet-4-6'],
    ['model-smal', 'model-small'],
    ['claude-opus-4-6-20260205', undefined],
    ['gpt-5', undefined],
    ['', undefined],
    ['m'.repeat(256), undefined],
  ] as const) {
    assert.equal(nearest(typed, names), meant, typed)
  }
})

test('allows one error in three letters, and eight at most', () => {
  assert.equal(nearest('abcXef', ['abcdef']), 'abcdef')
  assert.equal(nearest('abXXef', ['abcdef']), 'abcdef')
  assert.equal(nearest('aXXXef', ['abcdef']), undefined)
  const long = 'x'.repeat(60)
  assert.equal(nearest(`${'y'.repeat(8)}${long}`, [`${'z'.repeat(8)}${long}`])?.length, 68)
  assert.equal(nearest(`${'y'.repeat(9)}${long}`, [`${'z'.repeat(9)}${long}`]), undefined)
})

test('counts a swap of two letters as one error, and stops at its limit', () => {
  assert.equal(errorsBetween('ab', 'ba'), 1)
  assert.equal(errorsBetween('kitten', 'sitting'), 3)
  assert.equal(errorsBetween('kitten', 'sitting', 3), 3)
  assert.equal(errorsBetween('kitten', 'sitting', 1), Number.POSITIVE_INFINITY)
  assert.equal(errorsBetween('', 'abc'), 3)
})
