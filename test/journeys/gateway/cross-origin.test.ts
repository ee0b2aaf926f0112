// Requests of web pages: the cabinet's own origin may send messages, exactly that origin and only
// messages; programs, which send no Origin, see no difference.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createTestGateway, type TestGateway } from '../../stages/gateway.ts'

/** The cabinet of the test gateway's settings. */
const CABINET = 'https://cabinet.example'

let gateway: TestGateway
before(async () => {
  gateway = await createTestGateway()
})
after(() => gateway.end())

const preflight = (origin: string, path = '/v1/messages', method = 'POST') =>
  fetch(`${gateway.url}${path}`, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': 'content-type,x-api-key',
    },
  })

function corsOf(headers: Headers): string[] {
  return [...headers.keys()].filter((name) => name.startsWith('access-control-'))
}

test('a page of the cabinet may send a message and read its cost', async () => {
  const asked = await preflight(CABINET)
  assert.equal(asked.status, 204)
  assert.equal(asked.headers.get('access-control-allow-origin'), CABINET)
  assert.equal(asked.headers.get('access-control-allow-methods'), 'POST')
  assert.equal(asked.headers.get('access-control-allow-headers'), 'content-type, x-api-key')
  assert.equal(asked.headers.get('access-control-allow-credentials'), null)

  const account = await gateway.account(1_000_000)
  const send = (headers: Record<string, string>) =>
    fetch(`${gateway.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': account.key, ...headers },
      body: JSON.stringify({
        ...{ model: 'model-small', max_tokens: 16 },
        messages: [{ role: 'user', content: 'Hello' }],
      }),
    })
  const answer = await send({ origin: CABINET })
  assert.equal(answer.status, 200, await answer.clone().text())
  assert.equal(answer.headers.get('access-control-allow-origin'), CABINET)
  assert.equal(answer.headers.get('vary'), 'origin')
  const exposed = answer.headers.get('access-control-expose-headers') ?? ''
  for (const name of ['request-id', 'x-credit-charged', 'x-credit-balance']) {
    assert.ok(answer.headers.get(name), name)
    assert.ok(exposed.split(', ').includes(name), name)
  }
  const wrong = await send({ origin: CABINET, 'x-api-key': 'sk-vendor-api03-wrong' })
  assert.equal(wrong.status, 401)
  assert.equal(wrong.headers.get('access-control-allow-origin'), CABINET, 'the page reads why')

  const program = await send({})
  assert.equal(program.status, 200)
  assert.deepEqual(corsOf(program.headers), [])
  assert.equal(program.headers.get('vary'), null)
})

test('no other origin, endpoint or method is opened', async () => {
  const others = [
    'https://cabinet.example.evil.example',
    'http://evil.example',
    'http://cabinet.example',
    'https://cabinet.example:8443',
    'HTTPS://CABINET.EXAMPLE',
    `${CABINET}/`,
    'null',
    '*',
  ]
  for (const origin of others) {
    const asked = await preflight(origin)
    assert.deepEqual([asked.status, corsOf(asked.headers)], [405, []], origin)
  }
  for (const path of ['/v1/me', '/v1/requests', '/v1/messages/count_tokens', '/v1/nothing']) {
    const asked = await preflight(CABINET, path)
    assert.ok(asked.status === 405 || asked.status === 404, path)
    assert.deepEqual(corsOf(asked.headers), [], path)
  }
  const put = await preflight(CABINET, '/v1/messages', 'PUT')
  assert.equal(put.status, 405)
  assert.equal(put.headers.get('access-control-allow-methods'), null)
  const read = await fetch(`${gateway.url}/v1/me`, { headers: { origin: CABINET } })
  assert.deepEqual(corsOf(read.headers), [])
})
