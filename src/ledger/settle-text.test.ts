// Tests of a settle as a line of text: lines of the version before are read, and that version reads
// ours.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BookId, HoldId } from '../platform/ids.ts'
import { credits } from '../units/credits.ts'
import { ONE } from '../units/price.ts'
import { noTokens, tokens } from '../units/tokens.ts'
import type { SettleInput } from './calls.ts'
import { settleFromText, settleKeyText, settleText } from './settle-text.ts'

const id = '01a1de30-a1d6-7000-ad09-e6d4f55fa20a' as HoldId
const counts = { ...noTokens, input: tokens(12), output: tokens(3) }
const ordinary: SettleInput = {
  ...{ id, book: 7n as BookId, counts, priced: credits(27), ending: 'complete' },
  ...{ isEstimated: false, messageId: 'msg_1' },
}
const price = { input: ONE, coefficient: ONE, cacheRead: ONE, cacheWrite5m: ONE, cacheWrite1h: ONE }
const explained: SettleInput = {
  ...ordinary,
  tariff: 9,
  parts: {
    served: { model: 'other', list: 'speed=fast', price },
    passes: [{ model: 'third', list: '', price, counts }],
    uses: [{ feature: 'web_search', count: 2, each: credits(10) }],
    unlisted: ['service_tier'],
  },
  details: { firstByteMs: 40, isStream: true, stopReason: 'end_turn', label: 'nightly' },
}
/** What the version before migration 0026 wrote. */
const before = `["${id}","7",["12","3","0","0","0"],"27000000","complete",false,"msg_1"]`

test('reads a line of the version before, and writes the same without an explanation', () => {
  assert.deepEqual(settleFromText(before), ordinary)
  assert.equal(settleText(ordinary), before)
  const refused = JSON.stringify({ settle: before, reason: 'x' })
  assert.deepEqual(settleFromText(refused), ordinary)
})

test('a line has tariff, parts and details', () => {
  assert.deepEqual(settleFromText(settleText(explained)), explained)
  for (const one of [
    { ...ordinary, tariff: 9 },
    { ...ordinary, details: { status: 200 } },
    { ...ordinary, parts: { unlisted: ['speed'] } },
  ]) {
    assert.deepEqual(settleFromText(settleText(one)), one)
  }
})

test('the version before reads our lines: its seven elements come first', () => {
  const line = JSON.parse(settleText(explained)) as unknown[]
  assert.deepEqual(line.slice(0, 7), JSON.parse(before))
  assert.equal(line.length, 10)
})

test('a line contains no detail that the database would not get', () => {
  const details = { label: 'a text that somebody wrote, '.repeat(3), sessionId: 'one "two"' }
  assert.deepEqual(settleFromText(settleText({ ...ordinary, details })).details, {})
})

test('a key of the quarantine is short, and charges the same', () => {
  assert.equal(settleKeyText(explained), settleText(explained))
  const id64 = 'x'.repeat(64)
  const long: SettleInput = {
    ...explained,
    parts: {
      ...explained.parts,
      unlisted: Array.from('abcdefghijklmnopqrstuv', (letter) => letter.repeat(80)),
    },
    details: {
      ...{ sessionId: id64, agentId: id64, parentAgentId: id64, label: id64, target: id64 },
      ...{ stopReason: id64, errorType: id64, vendorRequestId: id64, serviceTier: id64 },
    },
  }
  assert.ok(settleText(long).length > 2_000, 'it is long')
  const { details: _, ...charge } = explained
  const { unlisted: __, ...parts } = explained.parts ?? {}
  assert.deepEqual(settleFromText(settleKeyText(long)), { ...charge, parts })
})
