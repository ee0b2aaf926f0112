// The meter gives the same counts wherever a stream is cut, and holds back its end.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createStreamMeter, RECORD_BYTES_MAX, type StreamMeter } from './sse.ts'

type Event = { readonly type: string } & Readonly<Record<string, unknown>>

function record(event: Event, lineEnd = '\n'): string {
  return `event: ${event.type}${lineEnd}data: ${JSON.stringify(event)}${lineEnd}${lineEnd}`
}

const start: Event = {
  type: 'message_start',
  message: {
    id: 'msg_1',
    model: 'claude-x',
    content: [],
    stop_reason: null,
    usage: {
      input_tokens: 8,
      cache_creation_input_tokens: 30,
      cache_read_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
      output_tokens: 1,
    },
  },
}
const end: Event = {
  type: 'message_delta',
  delta: { stop_reason: 'end_turn', stop_sequence: null },
  usage: { output_tokens: 15, cache_read_input_tokens: 7 },
}
const stop: Event = { type: 'message_stop' }

function delta(kind: 'text' | 'thinking' | 'partial_json' | 'signature', text: string): Event {
  const type = kind === 'partial_json' ? 'input_json_delta' : `${kind}_delta`
  return { type: 'content_block_delta', index: 0, delta: { type, [kind]: text } }
}

const usual: readonly Event[] = [
  start,
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'ping' },
  delta('text', 'Hello'),
  delta('text', ' мир "👋"\n'),
  delta('thinking', 'text: "text"'),
  delta('partial_json', '{"text":"\\u0436"}'),
  { type: 'content_block_stop', index: 0 },
  end,
  stop,
]

/** Forwards as the gateway does, and checks after each chunk what the client has received. */
function relay(stream: Buffer, cuts: readonly number[]): { meter: StreamMeter; held: Buffer } {
  const meter = createStreamMeter()
  let sent = 0
  let held = Buffer.alloc(0)
  let at = 0
  for (const cut of [...new Set(cuts), stream.length].sort((a, b) => a - b)) {
    const chunk = stream.subarray(at, cut)
    at = cut
    const heldBackFrom = meter.push(chunk)
    assert.ok(heldBackFrom <= chunk.length)
    if (heldBackFrom < 0) {
      assert.equal(-heldBackFrom, held.length)
      held = Buffer.concat([held, chunk])
    } else {
      sent += held.length + heldBackFrom
      held = Buffer.from(chunk.subarray(heldBackFrom))
    }
    assert.equal(meter.isBetweenRecords, isBoundary(stream.subarray(0, sent)))
  }
  assert.equal(sent + held.length, stream.length)
  return { meter, held }
}

function isBoundary(sent: Buffer): boolean {
  const text = sent.toString('latin1')
  return /^$|\n\r?\n$/.test(text) || /(?:^|\n\r?\n)(?::[^\n]*\n)+$/.test(text)
}

/** The published rule, computed the slow way. */
function estimateOf(events: readonly Event[]): bigint {
  let ascii = 0
  let other = 0
  for (const event of events) {
    const fields = event.type === 'content_block_delta' ? (event.delta as Event) : { type: '' }
    for (const [name, value] of Object.entries(fields)) {
      if (!/^(?:text|thinking|partial_json|signature)$/.test(name)) continue
      for (const byte of Buffer.from(String(value))) {
        if (byte < 0x80) ascii += 1
        else other += 1
      }
    }
  }
  // The subtraction keeps a sum of thirds from being rounded up past a whole number.
  return BigInt(Math.ceil(ascii / 4 + other / 3 - 1e-9))
}

const usageOfUsual = {
  inputTokens: 8,
  outputTokens: 15,
  cacheReadTokens: 7,
  cacheWriteTokens: 30,
  cacheWrite5mTokens: 10,
  cacheWrite1hTokens: 20,
}

test('a stream cut in two at any byte gives the same counters, and holds message_stop back', () => {
  for (const lineEnd of ['\n', '\r\n']) {
    const before = usual.slice(0, -1).map((event) => record(event, lineEnd))
    const stream = Buffer.from(before.join('') + record(stop, lineEnd))
    for (let cut = 1; cut < stream.length; cut += 1) {
      const { meter, held } = relay(stream, [cut])
      assert.deepEqual(meter.facts.usage, usageOfUsual)
      assert.equal(meter.facts.messageId, 'msg_1')
      assert.equal(meter.facts.model, 'claude-x')
      assert.equal(meter.facts.stopReason, 'end_turn')
      assert.equal(meter.estimatedOutput(), estimateOf(usual))
      assert.equal(held.toString(), record(stop, lineEnd))
      assert.deepEqual(
        [meter.hasStop, meter.isStopComplete, meter.hasUnreadRecord],
        [true, true, false],
      )
    }
  }
})

test('gives the same result byte by byte as in one piece', () => {
  const stream = Buffer.from(usual.map((event) => record(event)).join(''))
  const cuts = Array.from({ length: stream.length }, (_, at) => at)
  assert.deepEqual(relay(stream, cuts).meter.facts, relay(stream, []).meter.facts)
})

test('measures any events in any chunking as parsing each would', () => {
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: fc.constantFrom(...'aж€"\\\n\u0001 ', '👋') }),
  )
  const kind = fc.constantFrom('text', 'thinking', 'partial_json', 'signature')
  const event = fc.oneof(
    { weight: 8, arbitrary: fc.tuple(kind, text).map(([name, value]) => delta(name, value)) },
    {
      weight: 1,
      arbitrary: fc.constantFrom<Event>({ type: 'ping' }, { type: 'event_of_2027' }, end),
    },
    {
      weight: 1,
      arbitrary: text.map((cited) => ({
        type: 'content_block_delta',
        index: 1,
        delta: { type: 'citations_delta', citation: { cited_text: cited, document_index: 0 } },
      })),
    },
  )
  const comment = fc.constantFrom('', ': keep-alive\n', ': a\n\n', 'id: 7\n')
  fc.assert(
    fc.property(
      fc.array(fc.tuple(event, comment, fc.constantFrom('\n', '\r\n')), { maxLength: 12 }),
      fc.array(fc.nat(1_500), { maxLength: 12 }),
      (entries, cuts) => {
        const parts = entries.map(([each, lead, lineEnd]) => lead + record(each, lineEnd))
        const stream = Buffer.from(record(start) + parts.join('') + record(stop))
        const { meter, held } = relay(
          stream,
          cuts.filter((cut) => cut < stream.length),
        )
        const events = entries.map(([each]) => each)
        assert.equal(meter.estimatedOutput(), estimateOf(events))
        assert.equal(meter.facts.usage?.outputTokens, events.includes(end) ? 15 : 1)
        assert.equal(held.toString(), record(stop))
      },
    ),
    { numRuns: 400 },
  )
})

test('escapes count as the characters they stand for', () => {
  const line = 'data: {"index":0,"delta":{"text":"\\u0041\\u0436\\u20ac\\ud83d\\udc4b\\n\\/"}}'
  const { meter } = relay(Buffer.from(`event: content_block_delta\n${line}\n\n`), [])
  // A, newline and slash are ASCII; ж, € and the hand take 2, 3 and 4 bytes.
  assert.equal(meter.estimatedOutput(), BigInt(Math.ceil(3 / 4 + 9 / 3)))
})

test('measures members in another order and with other spacing', () => {
  const odd = 'data:{ "delta" : { "text" : "abcd" , "type" : "text_delta" } , "index" : 0 }\n\n'
  const record = Buffer.from(`event:content_block_delta\n${odd}`)
  const { meter } = relay(Buffer.concat([record, record, record]), [])
  assert.equal(meter.estimatedOutput(), 3n)
})

test('measures every payload of a record, in every record', () => {
  const both: Event = {
    type: 'content_block_delta',
    delta: { type: 'odd_delta', thinking: 'abcd', type2: 'x', signature: 'efgh' },
  }
  const { meter } = relay(Buffer.from(record(both).repeat(3)), [])
  assert.equal(meter.estimatedOutput(), 6n)
})

test('recognises records without an event line by their type', () => {
  const records = usual.map((event) => `data: ${JSON.stringify(event)}\n\n`)
  const stream = Buffer.from(records.join(''))
  for (const cuts of [[], Array.from({ length: stream.length }, (_, at) => at)]) {
    const { meter, held } = relay(stream, cuts)
    assert.deepEqual(meter.facts.usage, usageOfUsual)
    assert.equal(meter.estimatedOutput(), estimateOf(usual))
    assert.equal(held.toString(), records.at(-1))
  }
})

test('a reported zero is zero, and usage that was not reported is undefined', () => {
  const zero = { ...end, usage: { output_tokens: 0, input_tokens: 0 } }
  const { meter } = relay(Buffer.from(record(start) + record(zero)), [])
  assert.equal(meter.facts.usage?.outputTokens, 0)
  assert.equal(meter.facts.usage?.inputTokens, 0)
  const silent = relay(Buffer.from(record({ type: 'ping' }) + record(delta('text', 'x'))), [])
  assert.equal(silent.meter.facts.usage, undefined)
  assert.equal(silent.meter.hasStop, false)
})

test('reads an error event', () => {
  const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
  const { meter } = relay(Buffer.from(record(start) + record(error)), [200])
  assert.deepEqual(meter.facts.error, { type: 'overloaded_error', message: 'Overloaded' })
})

test('releases no byte of an error event before all of it has been read', () => {
  const before = record(start)
  const error = { type: 'error', error: { type: 'api_error', message: 'a secret of ours' } }
  const stream = Buffer.from(before + record(error))
  for (let cut = before.length + 1; cut < stream.length; cut += 1) {
    const { meter, held } = relay(stream.subarray(0, cut), [])
    assert.equal(held.length, cut - before.length)
    assert.equal(meter.facts.error, undefined)
  }
})

test('names that only begin like message_stop hold nothing back', () => {
  for (const type of ['message_stopped', 'message_sto', 'messag']) {
    const stream = Buffer.from(record({ type }))
    for (let cut = 1; cut < stream.length; cut += 1) {
      assert.equal(relay(stream, [cut]).held.length, 0)
    }
  }
})

test('holds back bytes after message_stop', () => {
  const rest = `${record(stop)}data: [DONE]\n\n${record(start)}`
  const { meter, held } = relay(Buffer.from(record(end) + rest), [400, 420])
  assert.equal(held.toString(), rest)
  assert.equal(meter.isBetweenRecords, true)
})

test('releases a record that is too long to read, and sets hasUnreadRecord', () => {
  const long = { ...end, filler: 'x'.repeat(RECORD_BYTES_MAX) }
  const stream = Buffer.from(record(start) + record(long) + record(stop))
  for (const cuts of [[], [5_000, 90_000, 200_000]]) {
    const { meter, held } = relay(stream, cuts)
    assert.equal(meter.hasUnreadRecord, true)
    assert.equal(meter.facts.usage?.outputTokens, 1)
    assert.equal(held.toString(), record(stop))
  }
})

test('a tool result that is too long to read counts as a use of its tool', () => {
  // The text of a page cannot pass for the type: JSON escapes its quotes.
  const content = [{ title: '"type":"web_fetch_tool_result"', text: 'x'.repeat(RECORD_BYTES_MAX) }]
  const block = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content }
  const long = { type: 'content_block_start', index: 1, content_block: block }
  const text = { ...long, content_block: { type: 'text', text: 'x'.repeat(RECORD_BYTES_MAX) } }
  const stream = Buffer.from(record(start) + record(long) + record(text) + record(long))
  for (const cuts of [[], [700, 710, 5_000, 200_000], [262_800, 525_000]]) {
    const { meter } = relay(stream, cuts)
    assert.deepEqual(meter.facts.results, { web_search: 2 })
  }
})

test('a broken record loses only its own counters', () => {
  const broken = 'event: message_delta\ndata: {"usage":\n\n'
  const cut = 'event: content_block_delta\ndata: {"delta":{"text":"abcd\n\n'
  const whole = record(delta('text', 'abcd'))
  const { meter } = relay(Buffer.from(record(start) + broken + cut + whole + record(end)), [])
  assert.equal(meter.hasUnreadRecord, true)
  assert.equal(meter.estimatedOutput(), 2n)
  assert.deepEqual(meter.facts.usage, usageOfUsual)
})
