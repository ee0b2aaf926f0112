// Open redirects after a sign-in.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { safeNext } from './paths.ts'

test('leads from a sign-in to our own pages and to no other site', () => {
  assert.equal(safeNext('/security?tab=1'), '/security?tab=1')
  for (const next of ['//evil.example', '/\\evil.example', 'https://evil.example', 'x', 1, null]) {
    assert.equal(safeNext(next), '/')
  }
  for (const hidden of ['\t', '\n', '\r']) assert.equal(safeNext(`/${hidden}/evil.example`), '/')
})
