// A client leaves a stream after the result of a server tool that is too long to be read: the use
// of the tool is charged, as for a shorter result.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { RECORD_BYTES_MAX } from '../../../../src/wire/sse.ts'
import { createTestGateway } from '../../../stages/gateway.ts'
import { chunkOf, headOf, startRawUpstream } from '../../../support/raw-upstream.ts'
import { createCaller } from '../caller.ts'
import { question } from '../client.ts'

const root = join(import.meta.dirname, '../../../..')
const catalogueText = readFileSync(join(root, 'catalogue.full.example.yaml'), 'utf8')

const record = (event: { readonly type: string; readonly [member: string]: unknown }) =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
const message = { id: 'msg_1', usage: { input_tokens: 9, output_tokens: 1 } }

function resultOf(bytes: number): string {
  const page = { type: 'web_search_result', encrypted_content: 'x'.repeat(bytes) }
  const block = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [page] }
  return record({ type: 'content_block_start', index: 1, content_block: block })
}

for (const [what, bytes] of [
  ['a short result', 1_000],
  ['a result too long to be read', RECORD_BYTES_MAX],
] as const) {
  test(`${what} counts as a use of its tool when the client then leaves`, async (t) => {
    const upstream = await startRawUpstream((socket) => {
      socket.write(headOf(200, 'text/event-stream'))
      socket.write(chunkOf(record({ type: 'message_start', message }) + resultOf(bytes)))
    })
    const gateway = await createTestGateway({ upstreamUrl: upstream.url, catalogueText })
    const caller = await createCaller(gateway, 100_000_000)
    t.after(async () => {
      caller.end()
      await gateway.end()
      await upstream.close()
    })
    const tools = [{ type: 'web_search_20250305', name: 'web_search', max_uses: 3 }]
    const sent = caller.send({
      body: question('Search', { model: 'model-base', stream: true, tools }),
    })
    await sent.until((received) => received.toString().endsWith(']}}\n\n'))
    sent.disconnect()
    const [entry] = await caller.entries()
    assert.equal(entry?.ending, 'client_left')
    const uses = entry?.parts?.uses?.map(({ feature, count }) => [feature, count])
    assert.deepEqual(uses, [['web_search', 1]])
  })
}
