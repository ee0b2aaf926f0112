// Body fidelity: every request body reaches the upstream byte for byte, and where the gateway must
// change one value, it changes only that value. Bodies are generated as text, because objects would
// lose white space, `1.0`, escapes and repeated members.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { createTestGateway, type TestGateway } from '../../stages/gateway.ts'
import { type Caller, createCaller } from './caller.ts'

// Printed with every failure. A different seed generates different bodies.
const SEED = 20_261_115
const CALLERS = 8

let gateway: TestGateway
before(async () => {
  gateway = await createTestGateway()
})
after(() => gateway.end())

// ── odd but legal JSON ──

const space = fc.constantFrom('', '', '', ' ', '\n', '\t', '\r\n', '  \n\t ')
const escaped = fc.constantFrom(
  ...['\\n', '\\/', '\\"', '\\\\', '\\b', '\\u0000', '\\u00e9', '\\u00E9', '\\ud83d\\ude00'],
  ...['\\ud800', '\\uDFFF', '\\ude00\\ud83d', '\\u2028', '\\ufdfa', '\\u0022'],
)
const letters = fc.constantFrom('a', 'Ж', '日本', '😀', 'e\u0301', '\u2028', '\u007f', '</x>', "'")
const string = fc
  .array(fc.oneof(letters, escaped, fc.string({ maxLength: 6 }).map(inner)), { maxLength: 8 })
  .map((parts) => `"${parts.join('')}"`)
const number = fc.constantFrom(
  ...['0', '-0', '1', '1.0', '1.00', '1e3', '1E+3', '-12.5e-7', '9007199254740993'],
  ...['123456789012345678901234567890', '0.1000000000000000055511151231257827', '1e400'],
)
const scalar = fc.oneof(string, number, fc.constantFrom('true', 'false', 'null'))

function inner(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof({ depthSize: 'small', withCrossShrink: true }, scalar, list(tie('value'))),
}))

/** An array or an object, whose members may have the same name twice. */
function list(item: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const items = fc.array(fc.tuple(space, item, space), { maxLength: 4 })
  const array = items.map((all) => `[${all.map((one) => one.join('')).join(',')}]`)
  const member = fc
    .tuple(space, fc.oneof(string, fc.constantFrom('"a"', '"b"')), space, space, item, space)
    .map(([a, name, b, c, given, d]) => `${a}${name}${b}:${c}${given}${d}`)
  const object = fc.array(member, { maxLength: 4 }).map((all) => `{${all.join(',')}}`)
  return fc.oneof(array, object)
}

const deep = fc
  .integer({ min: 100, max: 400 })
  .map((depth) => `${'[{"a":'.repeat(depth / 2)}0${'}]'.repeat(depth / 2)}`)

// ── message requests made of it ──

/** The members that a test looks for afterwards. */
type Own = { readonly model: string; readonly max_tokens: string; readonly temperature?: string }

const unknown = fc.tuple(
  // Member names that the gateway does not read; some of them appear twice.
  fc.constantFrom('"metadata"', '"future"', '"future"', '"mod\\u0065l_hint"', '"\\u0437"', '""'),
  fc.oneof({ weight: 9, arbitrary: value }, { weight: 1, arbitrary: deep }),
)
const block = fc
  .tuple(string, value)
  .map(([text, more]) => `{"type":"text","text":${text},"future":${more}}`)
const content = fc.oneof(
  string,
  fc.array(block, { minLength: 1, maxLength: 3 }).map((all) => `[${all.join(',')}]`),
)
const message = fc
  .tuple(fc.constantFrom('"user"', '"assistant"', '"us\\u0065r"'), content, value, space)
  .map(([role, said, more, gap]) => `{${gap}"content":${said},"role":${role},"x":${more}}`)

function bodies(own: Own): fc.Arbitrary<string> {
  const fixed = Object.entries(own).map(([name, given]) => [`"${name}"`, given] as const)
  return fc
    .record({
      messages: fc.array(message, { minLength: 1, maxLength: 4 }),
      system: fc.option(content, { nil: undefined }),
      more: fc.array(unknown, { maxLength: 5 }),
      gaps: fc.array(space, { minLength: 8, maxLength: 8 }),
      order: fc.nat(),
    })
    .map(({ messages, system, more, gaps, order }) => {
      const members: (readonly [string, string])[] = [
        ...fixed,
        ['"messages"', `[${messages.join(',')}]`],
        ...(system === undefined ? [] : [['"system"', system] as const]),
        ...more,
      ]
      const turned = members.map((_, i) => members[(i + order) % members.length])
      const gap = (i: number) => gaps[i % gaps.length] ?? ''
      const texts = turned.map(
        (one, i) => `${gap(i)}${one?.[0]}${gap(i + 1)}:${gap(i + 2)}${one?.[1]}${gap(i + 3)}`,
      )
      return `${gap(order)}{${texts.join(',')}}${gap(order + 1)}`
    })
}

// ── sending many ──

type Arrived = {
  readonly sent: string
  readonly body: Buffer
  readonly lowered: string | undefined
}

/** Sends all bodies, each caller one after the other, and matches them with what arrived. */
async function sendAll(texts: readonly string[], credits: number): Promise<Arrived[]> {
  const callers = await Promise.all(
    Array.from({ length: CALLERS }, () => createCaller(gateway, credits)),
  )
  const share = (caller: Caller, first: number) =>
    texts
      .filter((_, i) => i % CALLERS === first)
      .reduce<Promise<Arrived[]>>(async (before, sent) => {
        const arrived = await before
        const answer = await caller.ask({ body: sent })
        // The stand-in refuses many of these bodies; the test only needs the refusal to come from
        // it.
        const { body } = caller.last()
        assert.equal(caller.received().length, arrived.length + 1, `${answer.bytes} for ${sent}`)
        const lowered = answer.headers['x-credit-max-tokens']
        arrived.push({ sent, body: body ?? Buffer.alloc(0), lowered: lowered?.toString() })
        return arrived
      }, Promise.resolve([]))
  const arrived = (await Promise.all(callers.map(share))).flat()
  for (const caller of callers) caller.end()
  gateway.vendor.clear()
  return arrived
}

function sampled(own: Own, count: number): string[] {
  return fc.sample(bodies(own), { seed: SEED, numRuns: count })
}

test(`600 bodies reach the upstream byte for byte (seed ${SEED})`, async () => {
  const own = { model: '"model-small"', max_tokens: '64', temperature: '1.0' }
  const arrived = await sendAll(sampled(own, 600), 100_000_000)
  assert.equal(arrived.length, 600)
  for (const { sent, body, lowered } of arrived) {
    assertBytes(body, sent)
    assert.equal(lowered, undefined)
  }
})

test(`150 bodies at a low balance have one number lowered (seed ${SEED})`, async () => {
  // Half of a balance of 60,000 covers some 6,000 tokens of output, not 64,000.
  const own = { model: '"model-medium"', max_tokens: '6.40e4' }
  const arrived = await sendAll(sampled(own, 150), 60_000)
  for (const { sent, body, lowered } of arrived) {
    assert.ok(Number(lowered) >= 4_096 && Number(lowered) < 64_000, `lowered to ${lowered}`)
    assertBytes(body, replaced(sent, 'max_tokens', '6.40e4', String(lowered)))
  }
})

test(`150 bodies with too high a temperature have it clamped (seed ${SEED})`, async () => {
  const own = { model: '"model-small"', max_tokens: '64', temperature: '1.5' }
  for (const { sent, body } of await sendAll(sampled(own, 150), 100_000_000)) {
    assertBytes(body, replaced(sent, 'temperature', '1.5', '1'))
  }
})

test(`100 bodies with another name for the model have it translated (seed ${SEED})`, async () => {
  const written = '"model\\u002dsmall-20260115"'
  const own = { model: written, max_tokens: '64' }
  for (const { sent, body } of await sendAll(sampled(own, 100), 100_000_000)) {
    assertBytes(body, replaced(sent, 'model', written, '"model-small"'))
  }
})

test(`50 bodies have all three changed at once and nothing else (seed ${SEED})`, async () => {
  const own = { model: '"model-medium-20260115"', max_tokens: '64000', temperature: '2e0' }
  for (const { sent, body, lowered } of await sendAll(sampled(own, 50), 60_000)) {
    const named = replaced(sent, 'model', '"model-medium-20260115"', '"model-medium"')
    const lower = replaced(named, 'max_tokens', '64000', String(lowered))
    assertBytes(body, replaced(lower, 'temperature', '2e0', '1'))
  }
})

test('changes a body of 3 MiB that another thread reads and that is sent in slices', async () => {
  const long = `"${'Длинно и "'.slice(0, 7).repeat(260_000)}\\ud800"`
  const own = '"max_tokens":64000,"temperature" : 1.7'
  const messages = `[{"role":"user","content":${long}}]`
  const body = `{"model":"model-medium-20260115","messages":${messages},${own}}`
  assert.ok(Buffer.byteLength(body) > 3_000_000)
  // Its input is bounded by the window of 200,000; half of the balance leaves 20,000
  // credits for output, at 4 each.
  const [arrived] = await sendAll([body], 440_000)
  assert.ok(arrived !== undefined)
  assert.equal(arrived.lowered, '5000')
  const named = body.replace('-20260115', '')
  assertBytes(arrived.body, named.replace(own, '"max_tokens":5000,"temperature" : 1'))
})

function assertBytes(body: Buffer, expected: string): void {
  assert.equal(body.toString('latin1'), Buffer.from(expected).toString('latin1'))
}

/** The text with one member of the outermost object replaced. */
function replaced(body: string, name: string, from: string, to: string): string {
  const found = [...body.matchAll(new RegExp(`"${name}"\\s*:\\s*(?=${RegExp.escape(from)})`, 'g'))]
  assert.equal(found.length, 1, `${name} stands once in ${body}`)
  const at = (found[0]?.index ?? 0) + (found[0]?.[0].length ?? 0)
  return body.slice(0, at) + to + body.slice(at + from.length)
}
