// Streams as the real client libraries read them. Each row asks the same question twice, once at
// the gateway and once at the stand-in itself: with only the address changed, a program must see
// the same. The tests also compare it with what was asked for, since both could be wrong.
import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { jsonSchema, streamText, tool } from 'ai'
import { aiSdk, ask, langChain, officials, post, sdk1x8, type Target, textOf } from './clients.ts'
import { createStage, usageOf, withoutIds } from './stage.ts'

const stage = await createStage()
after(() => stage.end())
beforeEach(() => stage.clear())

/** What the call sees through the gateway, after making sure that it sees the same without it. */
async function sameThrough<T>(call: (target: Target) => Promise<T>): Promise<T> {
  stage.clear()
  const account = await stage.account(10_000_000)
  const through = await call({ url: stage.url, key: account.key })
  await stage.assertCharged(account)
  const direct = await call({ url: stage.vendor.url, key: stage.vendor.keys[1] as string })
  const plain = (value: T) => withoutIds(JSON.stringify(value))
  assert.deepEqual(JSON.parse(plain(through)), JSON.parse(plain(direct)))
  return through
}

async function collected<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const one of stream) all.push(one)
  return all
}

/** The parts of an AI SDK stream, its warnings and its own timings left out. */
async function partsOf(target: Target, prompt: string, more: object = {}) {
  const model = aiSdk(target)('claude-opus-4-6')
  const result = streamText({ model, prompt, maxOutputTokens: 2_000, onError: () => {}, ...more })
  const parts = await collected(result.stream)
  const kept = parts.filter(({ type }) => !/^(?:start|finish-step|raw)/.test(type))
  return kept.map((part) => JSON.parse(JSON.stringify(part)) as Record<string, unknown>)
}

/** The chunks of a LangChain stream as one message. */
async function gathered(target: Target, prompt: string, tools: object[] = []) {
  const model = langChain(target, 'claude-opus-4-6')
  const stream = await (tools.length === 0 ? model : model.bindTools(tools)).stream(prompt)
  const [first, ...rest] = await collected(stream)
  assert.ok(first !== undefined)
  const whole = rest.reduce((sum, chunk) => sum.concat(chunk), first)
  const calls = whole.tool_calls?.map(({ name, args }) => ({ name, args }))
  // The library's types do not know what its streams carry.
  const usage = whole.usage_metadata as { input_tokens: number } | undefined
  return { content: whole.content, calls, inputTokens: usage?.input_tokens }
}

const BLOCK = 'content_block_start( content_block_delta)* content_block_stop'
const GRAMMAR = new RegExp(`^message_start( ${BLOCK})+( message_delta)+ message_stop$`)

for (const [at, { name }] of officials({ url: stage.url, key: 'none' }).entries()) {
  test(`12 ${name} sees every event of a stream in order`, async () => {
    const events = await sameThrough(async (target) => {
      const library = officials(target)[at] ?? assert.fail()
      return collected(await library.events(ask('[[reply: thinking 5 text 30]]')))
    })
    const types = events.map(({ type }) => type).filter((type) => type !== 'ping')
    assert.match(types.join(' '), GRAMMAR)
    assert.equal(types.filter((type) => type === 'content_block_start').length, 2)
  })

  test(`13 ${name} puts the same message together from a stream`, async () => {
    const question = ask('[[reply: say "one two three" stop refusal]]')
    const final = await sameThrough((target) =>
      (officials(target)[at] ?? assert.fail()).final(question),
    )
    assert.equal(textOf(final), 'one two three')
    assert.equal(final.stop_reason, 'refusal')
    const reported = usageOf(stage.vendor.requests[0] ?? assert.fail())
    assert.equal(final.usage.input_tokens, reported.input_tokens)
    assert.equal(final.usage.output_tokens, reported.output_tokens)
  })
}

test('14 the AI SDK finishes a stream with stop, the right usage and no error', async () => {
  const parts = await sameThrough((target) => partsOf(target, '[[reply: text 25]]'))
  assert.ok(!parts.some(({ type }) => type === 'error'))
  const finish = parts.at(-1) as { finishReason: string; totalUsage: Record<string, number> }
  const reported = usageOf(stage.vendor.requests[0] ?? assert.fail())
  assert.equal(finish.finishReason, 'stop')
  assert.equal(finish.totalUsage.inputTokens, reported.input_tokens)
  assert.equal(finish.totalUsage.outputTokens, 25)
})

test('14 LangChain streams the text and the usage', async () => {
  const { content, inputTokens } = await sameThrough((target) =>
    gathered(target, '[[reply: say "one two three"]]'),
  )
  assert.equal(content, 'one two three')
  const reported = usageOf(stage.vendor.requests[0] ?? assert.fail())
  // It adds the few output tokens of message_start to the total; so it does at the vendor.
  assert.equal(inputTokens, reported.input_tokens)
})

const input = { city: 'Zürich', days: 3, nested: { list: [1.5, null, 'ü"\\'] } }
const useTool = `[[reply: text 3 tool get_weather ${JSON.stringify(input)}]]`
const useBareTool = '[[reply: tool get_weather]]'
const toolDefinition = { name: 'get_weather', input_schema: { type: 'object' as const } }
const aiTools = { tools: { get_weather: tool({ inputSchema: jsonSchema({ type: 'object' }) }) } }

for (const [row, reply, expected] of [
  ['15', useTool, input],
  ['16', useBareTool, {}],
] as const) {
  const what = row === '15' ? 'the input of a tool' : 'a tool without arguments'

  test(`${row} the official library reads ${what} from a stream`, async () => {
    const final = await sameThrough((target) =>
      sdk1x8(target)
        .messages.stream({ ...ask(reply), tools: [toolDefinition] })
        .finalMessage(),
    )
    const use = final.content.at(-1)
    assert.ok(use?.type === 'tool_use')
    assert.deepEqual(use.input, expected)
    assert.equal(final.stop_reason, 'tool_use')
  })

  test(`${row} the AI SDK reads ${what} from a stream`, async () => {
    const parts = await sameThrough((target) => partsOf(target, reply, aiTools))
    const call = parts.find(({ type }) => type === 'tool-call')
    assert.deepEqual(call?.input, expected)
    assert.equal(parts.at(-1)?.finishReason, 'tool-calls')
  })

  test(`${row} LangChain reads ${what} from a stream`, async () => {
    const { calls } = await sameThrough((target) => gathered(target, reply, [toolDefinition]))
    assert.deepEqual(calls, [{ name: 'get_weather', args: expected }])
  })
}

test('17 a signature of thinking is kept and taken back in the next turn', async () => {
  const turns = await sameThrough(async (target) => {
    const { messages } = sdk1x8(target)
    const first = await messages.stream(ask('Why? [[reply: thinking 40 text 5]]')).finalMessage()
    const next = await messages.create({
      ...ask('Why?'),
      messages: [
        { role: 'user', content: 'Why?' },
        { role: 'assistant', content: first.content },
        { role: 'user', content: 'And then?' },
      ],
    })
    return [first, next]
  })
  const thinking = turns[0]?.content[0]
  assert.ok(thinking?.type === 'thinking' && thinking.signature.length > 20)
})

test('17 the AI SDK is given the signature of thinking', async () => {
  const parts = await sameThrough((target) => partsOf(target, '[[reply: thinking 40 text 5]]'))
  const signed = parts.filter(({ providerMetadata }) =>
    JSON.stringify(providerMetadata ?? '').includes('"signature"'),
  )
  assert.equal(signed.length, 1)
})

test('17 LangChain is given the signature of thinking', async () => {
  const { content } = await sameThrough((target) =>
    gathered(target, '[[reply: thinking 40 text 5]]'),
  )
  assert.match(JSON.stringify(content), /"signature":"[^"]{20,}"/)
})

test('18 citations, redacted thinking and server tools arrive unchanged', async () => {
  const question = ask('[[reply: redacted citations server_tool text 2]]')
  const kinds = 'redacted_thinking text text text text server_tool_use web_search_tool_result text'
  for (const isStream of [false, true]) {
    const { content } = await sameThrough((target) => {
      const { messages } = sdk1x8(target)
      return isStream ? messages.stream(question).finalMessage() : messages.create(question)
    })
    assert.equal(content.map(({ type }) => type).join(' '), `${kinds} text`)
    assert.ok(content.some((block) => block.type === 'text' && block.citations?.length === 1))
  }
})

test('19 unknown events, blocks and fields are relayed verbatim', async () => {
  const question = ask(
    '[[reply: unknown text 3]] [[fault: unknown-event unknown-field comments pings]]',
  )
  const text = await sameThrough(async (target) => {
    const reply = await post(target, JSON.stringify({ ...question, stream: true }))
    return reply.text()
  })
  assert.match(text, /^event: future_event$/m)
  assert.match(text, /^: stand-in comment$/m)
  const events = await sameThrough(async (target) =>
    collected(await sdk1x8(target).messages.create({ ...question, stream: true })),
  )
  assert.match(JSON.stringify(events), /"type":"future_block".*"future_field"/)
  assert.ok(events.some(({ type }) => String(type) === 'future_event'))
})

for (const [row, fault, what] of [
  ['20', 'chunk=1', 'single bytes, cut inside characters,'],
  ['21', 'crlf', 'lines that end with CR and LF'],
] as const) {
  const prompt = `[[reply: unicode 40]] [[fault: ${fault}]]`

  test(`${row} ${what} reach the official library intact`, async () => {
    const final = await sameThrough((target) =>
      sdk1x8(target).messages.stream(ask(prompt)).finalMessage(),
    )
    assert.match(textOf(final), /👩‍🚀/u)
    assert.equal(final.usage.output_tokens, 40)
  })

  test(`${row} ${what} reach the AI SDK intact`, async () => {
    const parts = await sameThrough((target) => partsOf(target, prompt))
    const text = parts.map((part) => (part.type === 'text-delta' ? part.text : '')).join('')
    assert.match(text, /👩‍🚀/u)
    assert.equal(parts.at(-1)?.finishReason, 'stop')
  })
}
