// The specification's rows on keys, balance and charge: two forms of a key, two ways to send it,
// one active key per account that never expires, and what GET /v1/me shows.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { credits } from '../../../src/units/credits.ts'
import { createTestGateway, type TestGateway } from '../../stages/gateway.ts'
import { createCaller } from './caller.ts'
import { createClient, question, refusalOf } from './client.ts'
import { text } from './expected-charges.ts'

let gateway: TestGateway
before(async () => {
  gateway = await createTestGateway()
})
after(() => gateway.end())

const bearer = (key: string) => ({ 'x-api-key': undefined, authorization: `Bearer ${key}` })
const me = { path: '/v1/me', method: 'GET' } as const

/** The key of another service, imported for a new account. */
async function importedKey(): Promise<string> {
  const book = await gateway.ledger.createBook(gateway.database.db)
  await gateway.topUp(book, 10_000)
  const plain = `sk-vendor-03-${Math.random().toString(36).slice(2)}${'x'.repeat(40)}`
  await gateway.database.db.transaction((tx) => gateway.keys.importKey(tx, book, plain))
  return plain
}

describe('authentication', () => {
  const forms = {
    'an issued key': async () => (await gateway.account(10_000)).key,
    'an imported key': importedKey,
  }
  for (const [what, keyOf] of Object.entries(forms)) {
    test(`${what} is accepted in x-api-key and as a bearer, on both endpoints`, async () => {
      const key = await keyOf()
      assert.match(key, what.includes('issued') ? /^sk-vendor-api03-/ : /^sk-vendor-03-/)
      const client = createClient(gateway.url, key)
      for (const headers of [{}, bearer(key)]) {
        assert.equal((await client.ask({ body: question(), headers })).status, 200)
        assert.equal((await client.ask({ ...me, headers })).status, 200)
      }
      client.end()
    })
  }

  test('prefers the key in our format of two, and ignores an empty one', async () => {
    const { key, ...caller } = await createCaller(gateway)
    for (const headers of [
      { 'x-api-key': 'sk-other-1', authorization: `Bearer ${key}` },
      { 'x-api-key': key, authorization: 'Bearer sk-other-1' },
      { 'x-api-key': '', authorization: `Bearer ${key}` },
    ]) {
      assert.equal((await caller.ask({ body: question(), headers })).status, 200)
    }
    caller.end()
  })

  test('a reissued key carries the balance over and ends the old one at once', async () => {
    const old = await createCaller(gateway, 77_000)
    const { db } = gateway.database
    assert.equal((await old.ask(me)).status, 200)
    const issued = await db.transaction((tx) => gateway.keys.issue(tx, old.book))
    assert.equal((await old.ask({ body: question() })).status, 200, 'until it is confirmed')
    const left = (await old.me()).balance?.available
    await db.transaction((tx) => gateway.keys.confirm(tx, old.book, issued.keyId))
    const renewed = createClient(gateway.url, issued.plain)
    for (const asking of [me, { body: question() }]) {
      const answer = await old.ask(asking)
      assert.equal(answer.status, 401)
      assert.equal(refusalOf(answer).error.message, 'This API key has been revoked.')
    }
    assert.equal((await renewed.me()).balance?.available, left)
    assert.equal((await renewed.ask({ body: question() })).status, 200)
    for (const client of [old, renewed]) client.end()
  })

  test('an account has at most one active key, kept as Argon2id, without an expiry', async () => {
    const { db } = gateway.database
    const { book, key } = await gateway.account(0)
    const twice = `insert into keys
      select (jsonb_populate_record(k, '{"id":"key_AAaaaaaaaaaaaa"}')).*
      from keys k where book_id = $1`
    await assert.rejects(db.query(twice, [book]), /keys_active_are_one_per_book/)
    const { rows } = await db.query('select * from keys where book_id = $1', [book])
    const [row] = rows as Record<string, unknown>[]
    assert.match(String(row?.hash), /^\$argon2id\$/)
    assert.ok(
      !Object.values(row ?? {})
        .join(' ')
        .includes(key.slice(-20)),
      'the plain key is not kept',
    )
    assert.deepEqual(
      Object.keys(row ?? {}).filter((name) => /expir|until|valid/.test(name)),
      [],
    )
  })
})

describe('credit charge', () => {
  test('is exactly input + output × coefficient when cached tokens are free', async () => {
    const catalogueText = `
models:
  - id: model-small
    displayName: Small
    createdAt: 2026-01-15
    contextWindow: 200000
    outputCeiling: 32000
    coefficient: 2.333333
    weights: { cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 }
packs:
  - { id: pack-35m, name: 35 million credits, credits: 35000000, priceKopecks: 130000 }
`
    const exact = await createTestGateway({ catalogueText })
    const caller = await createCaller(exact, 50_000)
    const system = [
      { type: 'text', text: 'Long. '.repeat(50), cache_control: { type: 'ephemeral' } },
    ]
    let total = 0n
    for (let i = 0; i < 3; i++) {
      await caller.ask({ body: question('[[reply: text 37]]', { system }) })
      const { input_tokens = 0, output_tokens = 0 } = caller.last().usage ?? {}
      assert.equal(output_tokens, 37)
      total += BigInt(input_tokens) * 1_000_000n + BigInt(output_tokens) * 2_333_333n
    }
    const spent = (await caller.entries()).reduce((sum, { amount }) => sum - amount, 0n)
    assert.equal(text(spent), text(total))
    caller.end()
    await exact.end()
  })
})

describe('GET /v1/me', () => {
  test('shows balance, limits, requests and key, in whole credits and RFC 3339', async () => {
    const caller = await createCaller(gateway, 40_000)
    await caller.ask({ body: question('[[reply: text 10]]') })
    const { input_tokens = 0, output_tokens = 0 } = caller.last().usage ?? {}
    const cost = input_tokens + 5 * output_tokens
    const answer = await caller.ask(me)
    const body = JSON.parse(answer.bytes.toString())
    const { key, last_top_up_at, limits, ...rest } = body
    assert.deepEqual(rest, {
      type: 'account',
      state: 'active',
      balance: { available: 40_000 - cost, held: 0, total: 40_000 - cost, unit: 'credit' },
      requests: { total: 1, today: 1 },
      spent: { today: cost, last_30_days: cost },
    })
    const { max_tokens_affordable, turns_affordable, ...fixed } = limits
    assert.deepEqual(fixed, {
      max_body_bytes: 33_554_432,
      stop_sequences_max: 4,
      temperature_max: 2,
      daily_credits: null,
    })
    const affordable = Math.floor((40_000 - cost) / 5)
    assert.equal(max_tokens_affordable['model-small'], affordable)
    assert.equal(Object.keys(max_tokens_affordable).length, 6)
    // A turn: 200 new tokens, 20,000 read from the cache, 1,000 written to it, 500 of output.
    const turn = 200 + 20_000 * 0.1 + 1_000 * 1.25 + 500 * 5
    assert.equal(turns_affordable['model-small'], Math.floor((40_000 - cost) / turn))
    assert.deepEqual(Object.keys(turns_affordable), Object.keys(max_tokens_affordable))
    const { created_at, ...shown } = key
    assert.deepEqual(shown, { id: caller.keyId, last4: caller.key.slice(-4) })
    for (const time of [created_at, last_top_up_at]) {
      assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    }
    assert.equal(answer.headers['content-type'], 'application/json')
    caller.end()
  })

  test('shows nulls for what is absent, and the daily limit once there is one', async () => {
    const caller = await createCaller(gateway, 0)
    assert.equal((await caller.me()).last_top_up_at, null)
    const limits = { dayLimit: credits(5_000), velocityLimit: null, velocitySeconds: 60 }
    await gateway.ledger.setLimits(gateway.database.db, caller.book, limits)
    assert.equal((await caller.me()).limits?.daily_credits, 5_000)
    caller.end()
  })

  for (const stop of ['operator_blocked', 'owner_suspended', 'velocity_stopped'] as const) {
    test(`names the state ${stop}, in which messages and counts get the same refusal`, async () => {
      const caller = await createCaller(gateway, 40_000)
      const { db } = gateway.database
      const path = '/v1/messages/count_tokens'
      assert.equal((await caller.me()).state, 'active')
      await gateway.ledger.block(db, caller.book, stop)
      assert.equal((await caller.me()).state, stop)
      const message = await caller.ask({ body: question() })
      const count = await caller.ask({ path, body: question() })
      assert.equal(message.status, stop === 'operator_blocked' ? 403 : 402)
      assert.equal(count.status, message.status)
      assert.deepEqual(refusalOf(count).error, refusalOf(message).error)
      assert.equal(caller.received().length, 0, 'nothing went upstream')
      await gateway.ledger.resume(db, caller.book, stop)
      assert.equal((await caller.me()).state, 'active')
      assert.equal((await caller.ask({ path, body: question() })).status, 200)
      caller.end()
    })
  }

  test('shows what is held while a request runs', async () => {
    const caller = await createCaller(gateway, 40_000)
    const body = question('[[fault: silence-after=2]]', { stream: true })
    const sent = caller.send({ body })
    await sent.until((bytes) => bytes.includes('content_block_start'))
    const held = body.length + 1_000 * 5
    const balance = { available: 40_000 - held, held, total: 40_000, unit: 'credit' }
    assert.deepEqual((await caller.me()).balance, balance)
    sent.disconnect()
    await gateway.settled(caller.book)
    caller.end()
  })

  for (const asking of [
    { body: question('Hello', { stop_sequences: ['a', 'b', 'c', 'd', 'e'] }) },
    { body: question('Hello', { model: 'nobody' }) },
    { body: 'no JSON' },
    { body: question(), headers: { 'content-type': 'text/plain' } },
    { path: '/v1/nowhere', body: '' },
    { path: '/v1/messages', method: 'GET' },
    { body: question('[[fault: status=529]]') },
  ]) {
    const what = `${asking.method ?? 'POST'} ${asking.path ?? ''} ${asking.body ?? ''}`.slice(0, 90)
    test(`a refused request does not raise the count: ${what}`, async () => {
      const caller = await createCaller(gateway)
      assert.ok((await caller.ask(asking)).status >= 400)
      await gateway.settled(caller.book)
      assert.deepEqual((await caller.me()).requests, { total: 0, today: 0 })
      caller.end()
    })
  }
})
