// A client library through every way to the upstream: proxies, HTTP/2, mTLS. `npm run compat --
// full` runs the whole matrix through each of them; here a plain reply, a stream, an error, a large
// body and a stream that the client leaves.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { upstreamWays } from '../support/upstream-ways.ts'
import { ask, sdk1x8, textOf } from './clients.ts'
import { createStage, jsonOf, type Stage, thrownBy } from './stage.ts'

/** More than is written at once (256 KiB), less than the model's context. */
const LONG = 'Ж 0123456789 '.repeat(25_000)

for (const way of upstreamWays) {
  describe(way, () => {
    let stage: Stage
    before(async () => {
      stage = await createStage({ way })
    })
    after(() => stage.end())
    beforeEach(() => stage.clear())

    const client = (key: string) => sdk1x8({ url: stage.url, key })

    test('a plain reply arrives and is charged', async () => {
      const account = await stage.account(1_000_000)
      const reply = await client(account.key).messages.create(ask('[[reply: say "Good day"]]'))
      assert.equal(textOf(reply), 'Good day')
      await stage.assertCharged(account)
    })

    test('a stream arrives event by event and is charged', async () => {
      const account = await stage.account(1_000_000)
      const stream = client(account.key).messages.stream(ask('[[reply: text 40]]'))
      const types: string[] = []
      for await (const event of stream) types.push(event.type)
      assert.equal(types[0], 'message_start')
      assert.equal(types.at(-1), 'message_stop')
      assert.ok(types.filter((type) => type === 'content_block_delta').length > 10)
      await stage.assertCharged(account)
    })

    test('an error keeps its status and its words, and is free', async () => {
      const account = await stage.account(1_000_000)
      const refused = client(account.key).messages.create(
        ask('[[fault: status=400 message="in these words"]]'),
      )
      const error = await thrownBy<{ status: number; message: string }>(refused)
      assert.equal(error.status, 400)
      assert.match(error.message, /in these words/)
      await stage.assertFree(account)
    })

    test('a body that is sent in pieces arrives unchanged', async () => {
      const account = await stage.account(100_000_000)
      const text = `${LONG}[[reply: text 3]]`
      await client(account.key).messages.create(ask(text))
      const { messages } = jsonOf(stage.upstream()) as { messages: { content: unknown }[] }
      assert.ok(JSON.stringify(messages[0]?.content).includes(LONG))
    })

    test('a stream that the client leaves is stopped at the upstream', async () => {
      const account = await stage.account(1_000_000)
      const stream = client(account.key).messages.stream(
        ask('[[reply: text 20000]] [[fault: pace-ms=20]]'),
      )
      for await (const event of stream) if (event.type === 'content_block_delta') break
      stream.abort()
      await stage.vendor.until(([first]) => first?.outcome === 'aborted')
    })
  })
}
