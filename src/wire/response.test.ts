// The facts of a plain reply, however it is cut into chunks.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { noFacts } from './events.ts'
import { createReplyMeter, readReply } from './response.ts'

const reply = {
  id: 'msg_1',
  type: 'message',
  content: [
    { type: 'text', text: 'say "usage": {"input_tokens": 999} \\' },
    { type: 'tool_use', input: { usage: { input_tokens: 998 }, id: 'no', list: ['model', '}'] } },
  ],
  model: 'claude-x',
  stop_reason: 'tool_use',
  usage: { input_tokens: 3, output_tokens: 0, cache_creation: null, service_tier: 'standard' },
}
const facts = {
  ...noFacts(),
  messageId: 'msg_1',
  model: 'claude-x',
  stopReason: 'tool_use',
  usage: { inputTokens: 3, outputTokens: 0, serviceTier: 'standard' },
}

test('reads a reply with members in any order and any spacing', () => {
  const names = Object.keys(reply) as (keyof typeof reply)[]
  fc.assert(
    fc.property(
      fc.shuffledSubarray(names, { minLength: names.length }),
      fc.constantFrom(undefined, 2, '\r\n'),
      (order, space) => {
        const ordered = Object.fromEntries(order.map((name) => [name, reply[name]]))
        assert.deepEqual(readReply(Buffer.from(JSON.stringify(ordered, null, space))), facts)
      },
    ),
  )
})

test('gives the same facts for a reply cut at any byte', () => {
  const body = Buffer.from(JSON.stringify(reply))
  for (let cut = 1; cut < body.length; cut += 1) {
    const meter = createReplyMeter()
    meter.push(body.subarray(0, cut))
    assert.equal(meter.isComplete, false)
    meter.push(body.subarray(cut))
    assert.equal(meter.isComplete, true)
    assert.deepEqual(meter.facts, facts)
  }
})

test('finds the facts beside any texts in any chunking', () => {
  const text = fc.string({ unit: fc.constantFrom('\\', '"', '{', '}', ':', ',', 'ж', '\n', 'x') })
  const cuts = fc.array(fc.nat(600), { maxLength: 8 })
  fc.assert(
    fc.property(fc.array(text, { maxLength: 4 }), cuts, (content, places) => {
      const body = Buffer.from(JSON.stringify({ '': '', ...reply, content }))
      const meter = createReplyMeter()
      let at = 0
      for (const cut of [...places.sort((a, b) => a - b), body.length]) {
        meter.push(body.subarray(at, cut))
        at = Math.min(cut, body.length)
      }
      assert.deepEqual(meter.facts, facts)
    }),
  )
})

test('a truncated reply is not complete', () => {
  assert.equal(readReply(Buffer.from(JSON.stringify(reply).slice(0, -1))), undefined)
  assert.equal(readReply(Buffer.from('')), undefined)
})

test('usage that is missing, null or broken is missing, not zero', () => {
  for (const usage of ['', ',"usage":null', ',"usage":[1]', ',"usage":{"input_tokens":}']) {
    const read = readReply(Buffer.from(`{"id":"msg_1"${usage}}`))
    assert.equal(read?.messageId, 'msg_1')
    assert.equal(read?.usage, undefined)
  }
})

test('skips a value that is too long to be usage', () => {
  const usage = { filler: 'x'.repeat(70_000), input_tokens: 1 }
  const read = readReply(Buffer.from(JSON.stringify({ usage, id: 'msg_1' })))
  assert.equal(read?.usage, undefined)
  assert.equal(read?.messageId, 'msg_1')
})
