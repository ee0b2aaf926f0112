// Timing of replies: the gateway forwards the first event at once, and sends pings into silent
// streams so that no client or proxy times out. With COMPAT_FULL=1 the tests wait in real time and
// check milliseconds; otherwise they turn the gateway's clock forward.
import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { streamText } from 'ai'
import { systemClock } from '../../src/platform/clock.ts'
import { aiSdk, ask, post, sdk1x8, type Target, textOf } from './clients.ts'
import { createStage } from './stage.ts'

const isFull = process.env.COMPAT_FULL === '1'
const skip = isFull ? false : 'waits for a minute: npm run compat -- full'

// How far a test has turned the gateway's clock forward. The gateway measures with this clock how
// long a stream is silent and how old a request is; a request may last an hour.
const turned = { ms: 0 }
const clock = { ...systemClock, spanMs: () => systemClock.spanMs() + turned.ms }

const stage = await createStage({
  clock,
  headersTimeoutMs: 600_000,
  idleTimeoutMs: 300_000,
})
after(() => stage.end())
beforeEach(() => stage.clear())

/** The chunks of a stream, each with its arrival time. */
async function timedChunks(reply: Response) {
  const chunks: { text: string; atMs: number }[] = []
  const decoder = new TextDecoder()
  for await (const chunk of reply.body ?? []) {
    chunks.push({ text: decoder.decode(chunk, { stream: true }), atMs: performance.now() })
  }
  return chunks
}

/** Reads a silent stream with three clients at once: plain HTTP, the vendor's SDK, the AI SDK. */
async function readSilence(target: Target, silenceMs: number) {
  const prompt = `[[reply: text 6]] [[fault: silence-after=4 silence-ms=${silenceMs}]]`
  const question = ask(prompt)
  const model = aiSdk(target)('claude-opus-4-6')
  const streamed = streamText({ model, prompt, maxOutputTokens: 1_000 })
  const [chunks, final, text, finishReason] = await Promise.all([
    post(target, JSON.stringify({ ...question, stream: true })).then(timedChunks),
    sdk1x8(target).messages.stream(question).finalMessage(),
    streamed.text,
    streamed.finishReason,
  ])
  assert.equal(final.usage.output_tokens, 6)
  assert.equal(text, textOf(final))
  assert.equal(finishReason, 'stop')
  return chunks
}

test('22 a silent stream gets pings between its records, and clients do not notice', async () => {
  const account = await stage.account(10_000_000)
  const reading = readSilence({ url: stage.url, key: account.key }, 2_500)
  await stage.vendor.until((all) => all.filter(({ events }) => events === 4).length === 3)
  turned.ms += 16_000
  const records = (await reading).map(({ text }) => text).join('')
  const pings = records.match(/^event: ping\ndata: \{"type": ?"ping"\}$/gm)
  assert.equal(pings?.length, 2, 'one of the upstream, as always, and one of ours')
  assert.deepEqual(brokenRecords(records), [])
  await stage.assertCharged(account)
})

test('22 in 40 s of silence a client waits at most 16 s for bytes', { skip }, async () => {
  const account = await stage.account(10_000_000)
  const chunks = await readSilence({ url: stage.url, key: account.key }, 40_000)
  const times = chunks.map(({ atMs }) => atMs)
  const gaps = times.slice(1).map((atMs, i) => atMs - (times[i] as number))
  // The gateway sends a ping after 15 s of silence and checks once a second.
  assert.ok(Math.max(...gaps) < 16_500, `${gaps}`)
  assert.deepEqual(brokenRecords(chunks.map(({ text }) => text).join('')), [])
  await stage.assertCharged(account)
})

test('23 the first event reaches the client while the upstream is silent', async () => {
  const account = await stage.account(10_000_000)
  const latencies: number[] = []
  for (let i = 0; i < 5; i++) {
    stage.clear()
    const question = ask('[[reply: text 6]] [[fault: silence-after=1 silence-ms=300]]')
    const stream = await sdk1x8({ url: stage.url, key: account.key }).messages.create({
      ...question,
      stream: true,
    })
    const sent = stage.vendor.until((all) => all[0]?.events === 1).then(() => performance.now())
    for await (const event of stream) {
      if (event.type !== 'message_start') continue
      latencies.push(performance.now() - (await sent))
      assert.equal(stage.upstream().events, 1, 'the upstream has sent nothing more')
    }
  }
  // Judge the fastest of five: a buffer would delay all of them, a busy machine only some.
  assert.ok(latencies.length === 5 && (!isFull || Math.min(...latencies) < 100), `${latencies}`)
})

test('29 a plain reply that takes more than a minute arrives', { skip }, async () => {
  const account = await stage.account(10_000_000)
  const reply = await sdk1x8({ url: stage.url, key: account.key }).messages.create(
    ask('[[reply: text 6]] [[fault: headers-ms=65000]]', 'claude-opus-4-6', 20_000),
  )
  assert.equal(reply.usage.output_tokens, 6)
  assert.equal(stage.arrivals.length, 1)
  await stage.assertCharged(account)
})

test('28 a client that leaves while the upstream never answers pays nothing', {
  skip,
}, async () => {
  const account = await stage.account(10_000_000)
  const leaving = new AbortController()
  const call = sdk1x8({ url: stage.url, key: account.key }).messages.create(
    { ...ask('[[fault: headers-ms=forever]]'), stream: true },
    { signal: leaving.signal },
  )
  await stage.vendor.until((all) => all.some(({ body }) => body !== null))
  leaving.abort()
  await assert.rejects(call)
  await stage.vendor.until((all) => all[0]?.outcome === 'aborted', 12_000)
  await stage.assertFree(account)
})

/** Records that are not an event line, a data line and nothing else. */
function brokenRecords(text: string): string[] {
  const records = text.split('\n\n').slice(0, -1)
  return records.filter((record) => !/^event: \w+\ndata: \{.*\}$/.test(record))
}
