// The codes of authenticator apps, against the vectors of RFC 6238 for SHA-1, cut to six digits.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newSeed, seedUri, stepOf, totpCode } from './totp.ts'

/** `12345678901234567890`, as the RFC has it, in Base32. */
const SEED = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'

test('codes are those of RFC 6238', () => {
  const vectors: [number, string][] = [
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_111_111_111, '050471'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
    [20_000_000_000, '353130'],
  ]
  for (const [seconds, code] of vectors) assert.equal(totpCode(SEED, seconds * 1_000), code)
})

test('the code before and the one after are accepted, and no other', () => {
  const nowMs = 1_234_567_890_000
  const now = BigInt(Math.floor(nowMs / 30_000))
  const stepAt = (offMs: number) => stepOf(SEED, totpCode(SEED, nowMs + offMs), nowMs)
  assert.equal(stepAt(0), now)
  assert.equal(stepAt(-30_000), now - 1n)
  assert.equal(stepAt(30_000), now + 1n)
  assert.equal(stepAt(60_000), undefined)
  assert.equal(stepAt(-60_000), undefined)
  assert.equal(stepOf(SEED, '', nowMs), undefined)
})

test('a seed has 160 bits that apps can read, and its address names the person', () => {
  const [one, two] = [newSeed(), newSeed()]
  assert.match(one, /^[A-Z2-7]{32}$/)
  assert.notEqual(one, two)
  const uri = new URL(seedUri({ seed: one, issuer: 'Gate operators', email: 'olga@gate.example' }))
  assert.equal(uri.searchParams.get('secret'), one)
  assert.equal(uri.searchParams.get('issuer'), 'Gate operators')
  assert.equal(decodeURIComponent(uri.pathname), '/Gate operators:olga@gate.example')
})
