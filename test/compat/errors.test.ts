// Every error, as the real client libraries show it to their users: status, class and type, and how
// often a library repeats by itself. Attempts are counted where they arrive, at the gateway.
import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { Anthropic } from '@anthropic-ai/sdk'
import { APICallError, generateText } from 'ai'
import { Anthropic as Sdk0x137 } from 'anthropic-sdk-0-137'
import { OpenAI } from 'openai'
import {
  aiSdk,
  ask,
  langChain,
  openAi,
  post,
  sdk0x60,
  sdk0x137,
  sdk1x8,
  type Target,
} from './clients.ts'
import { createStage, thrownBy } from './stage.ts'

const stage = await createStage()
after(() => stage.end())
beforeEach(() => stage.clear())

const { url } = stage
type Failure = InstanceType<typeof Anthropic.APIError>
type OldFailure = InstanceType<typeof Sdk0x137.APIError>
type Envelope = { type: string; error: { type: string; message: string }; request_id: string }

const viaAiSdk = (target: Target, more: { maxOutputTokens?: number } = {}) =>
  generateText({ model: aiSdk(target)('claude-opus-4-6'), prompt: 'Hello', ...more })

/** A revoked key, one that was never issued, one that is no key, and none. */
async function wrongKeys(): Promise<[string, string][]> {
  const { book, key } = await stage.account(1_000_000)
  await stage.database.db.transaction((tx) => stage.keys.revoke(tx, book))
  const madeUp = `${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`
  return [
    ['revoked', key],
    ['unknown', madeUp],
    ['malformed', 'not-a-key'],
    ['missing', ''],
  ]
}

test('06 a missing, malformed, unknown or revoked key is a 401, tried once', async () => {
  for (const [what, key] of await wrongKeys()) {
    stage.clear()
    // A library that has no key refuses to call; an empty header is how that looks on the wire.
    const headers = key === '' ? { 'x-api-key': '', authorization: null } : {}
    const newest = new Anthropic({ baseURL: url, apiKey: key || 'none', defaultHeaders: headers })
    const error = await thrownBy<Failure>(newest.messages.create(ask('Hello')))
    assert.ok(error instanceof Anthropic.AuthenticationError, what)
    assert.equal(error.type, 'authentication_error')
    assert.match(error.requestID ?? '', /^req_/)

    const older = new Sdk0x137({ baseURL: url, apiKey: key || 'none', defaultHeaders: headers })
    const oldError = await thrownBy<OldFailure>(older.messages.create(ask('Hello')))
    assert.ok(oldError instanceof Sdk0x137.AuthenticationError, what)
    assert.equal((oldError.error as Envelope).error.type, 'authentication_error')

    const aiError = await thrownBy<APICallError>(viaAiSdk({ url, key }))
    assert.ok(APICallError.isInstance(aiError), what)
    assert.equal(aiError.statusCode, 401)
    assert.equal((aiError.data as Envelope).error.type, 'authentication_error')

    assert.equal(stage.arrivals.length, 3, `${what}: one attempt each`)
  }
  assert.equal(stage.vendor.requests.length, 0)
})

test('30 a long reply without a stream: one library refuses, another sends it', async () => {
  const account = await stage.account(1_000_000)
  const target = { url, key: account.key }
  const question = ask('Hello', 'claude-opus-4-6', 21_334)
  const error = await thrownBy((async () => sdk1x8(target).messages.create(question))())
  assert.ok(error instanceof Anthropic.AnthropicError && !(error instanceof Anthropic.APIError))
  assert.equal(stage.arrivals.length, 0)
  const { text } = await viaAiSdk(target, { maxOutputTokens: 21_334 })
  assert.match(text, /^Stand-in reply/)
  await stage.assertCharged(account)
})

test('31 an exhausted balance is a 402 that no library repeats', async () => {
  const { key, book } = await stage.account(0)
  const target = { url, key }
  const check = (status: number | undefined, text: string, name: string) => {
    assert.equal(status, 402, name)
    assert.match(text, /billing_error/, name)
    assert.match(text, /Not enough credits: .* https:\/\/cabinet\.example\/packs/, name)
    assert.equal(stage.arrivals.length, 1, `${name}: one attempt`)
    stage.clear()
  }
  const newest = await thrownBy<Failure>(sdk1x8(target).messages.create(ask('Hello')))
  assert.equal(newest.type, 'billing_error')
  assert.equal(newest.headers?.get('x-should-retry'), 'false')
  check(newest.status, JSON.stringify(newest), 'official 1.8.0')
  for (const library of [sdk0x137(target), sdk0x60(target)]) {
    const error = await thrownBy<OldFailure>(library.post('/v1/messages', { body: ask('Hello') }))
    check(error.status, JSON.stringify(error), 'official, older')
  }
  const ai = await thrownBy<APICallError>(viaAiSdk(target))
  check(ai.statusCode, JSON.stringify(ai.data), 'AI SDK')
  const chain = langChain(target, 'claude-opus-4-6')
  const chainError = await thrownBy<Failure>(chain.invoke('Hello'))
  check(chainError.status, chainError.message, 'LangChain')
  const other = await thrownBy<InstanceType<typeof OpenAI.APIError>>(
    openAi(target).post('/messages', { body: ask('Hello') }),
  )
  assert.ok(other instanceof OpenAI.APIError)
  check(other.status, JSON.stringify([other.type, other.message]), 'OpenAI')
  assert.deepEqual(await stage.statement(book), [])
})

test('32 of fifty calls at once some are refused; no balance is below zero', async () => {
  const account = await stage.account(6_000)
  stage.vendor.mode({ fault: 'headers-ms=200', reply: 'text 50' })
  const { messages } = sdk1x8({ url, key: account.key })
  const calls = Array.from({ length: 50 }, () =>
    messages.create(ask('Hello', 'claude-opus-4-6', 100)).then(
      () => 200,
      (error: Failure) => error.status ?? 0,
    ),
  )
  const lowest: bigint[] = []
  await stage.vendor.until((all) => all.length > 0)
  lowest.push((await stage.ledger.balance(account.book))?.available ?? -1n)
  const statuses = await Promise.all(calls)
  assert.deepEqual([...new Set(statuses)].sort(), [200, 402])
  await stage.assertCharged(account)
  const balance = await stage.ledger.balance(account.book)
  lowest.push(balance?.available ?? -1n, balance?.held === 0n ? 0n : -1n, -(balance?.debt ?? 1n))
  assert.ok(
    lowest.every((one) => one >= 0n),
    `${lowest}`,
  )
  const paid = (await stage.entries(account, 'charge')).reduce((sum, one) => sum - one.amount, 0n)
  assert.equal(balance?.available, 6_000_000_000n - paid)
})

test('33 a body of 33 MB is a 413 that the library can read', async () => {
  const account = await stage.account(1_000_000)
  const body = ask('x'.repeat(33 * 1024 * 1024))
  const error = await thrownBy<Failure>(
    sdk1x8({ url, key: account.key }).messages.create(body, { timeout: 20_000 }),
  )
  assert.ok(error instanceof Anthropic.ContentTooLargeError, String(error))
  assert.equal(error.type, 'request_too_large')
  assert.equal(stage.arrivals.length, 1)
  assert.equal(stage.vendor.requests.length, 0)
  await stage.assertFree(account)
})

test('34 an invalid message request is refused in the error shape', async () => {
  const account = await stage.account(1_000_000)
  const target = { url, key: account.key }
  const wrong: [string | Buffer<ArrayBuffer>, Record<string, string>, number][] = [
    ['', {}, 400],
    ['{"model":', {}, 400],
    ['[]', {}, 400],
    ['{}', {}, 400],
    [Buffer.from([0x22, 0xff, 0x22]), {}, 400],
    [JSON.stringify(ask('Hello')), { 'content-type': 'text/plain' }, 415],
    [JSON.stringify(ask('Hello')), { 'content-encoding': 'gzip' }, 400],
  ]
  for (const [body, headers, status] of wrong) {
    const reply = await post(target, body, headers)
    const envelope = (await reply.json()) as Envelope
    assert.equal(reply.status, status, String(body))
    assert.match(reply.headers.get('content-type') ?? '', /^application\/json/)
    assert.deepEqual([envelope.type, envelope.error.type], ['error', 'invalid_request_error'])
    assert.equal(envelope.request_id, reply.headers.get('request-id'))
  }
  assert.equal(stage.vendor.requests.length, 0)
  await stage.assertFree(account)
})

test('35 an unknown model is not found', async () => {
  const account = await stage.account(1_000_000)
  const call = sdk1x8({ url, key: account.key }).messages.create(ask('Hello', 'model-of-2040'))
  const error = await thrownBy<Failure>(call)
  assert.ok(error instanceof Anthropic.NotFoundError)
  assert.equal(error.type, 'not_found_error')
  assert.match(error.message, /model: model-of-2040/)
  assert.equal(stage.arrivals.length, 1)
  await stage.assertFree(account)
})

test('47 whether and when to try again is relayed, and the library obeys', async () => {
  const account = await stage.account(1_000_000)
  const attempts = async (fault: string): Promise<number[]> => {
    stage.clear()
    stage.vendor.mode({ fault })
    await thrownBy(sdk1x8({ url, key: account.key }).messages.create(ask('Hello')))
    const times = stage.arrivals.map(({ atMs }) => atMs)
    return times.slice(1).map((atMs, i) => atMs - (times[i] as number))
  }
  assert.deepEqual(await attempts('status=529 should-retry=false'), [])
  assert.equal((await attempts('status=400 should-retry=true retry-after-ms=10')).length, 2)
  const byMs = await attempts('status=500 retry-after-ms=300 retry-after=60')
  // Half of the minute that the other header asks for tells them apart, on a busy machine too.
  assert.ok(byMs.length === 2 && byMs.every((ms) => ms > 290 && ms < 30_000), `${byMs}`)
  const bySeconds = await attempts('status=429 retry-after=1')
  assert.ok(bySeconds.length === 2 && bySeconds.every((ms) => ms > 990), `${bySeconds}`)
  await stage.assertFree(account)
})
