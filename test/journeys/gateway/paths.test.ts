// Paths and methods beside those of the specification: HEAD, and the answer to a path that does not
// exist.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createTestGateway, type TestGateway } from '../../stages/gateway.ts'
import { createCaller } from './caller.ts'
import { refusalOf } from './client.ts'

let gateway: TestGateway
before(async () => {
  gateway = await createTestGateway()
})
after(() => gateway.end())

test('the 404 of a path shows it as it was sent, without its query', async () => {
  const caller = await createCaller(gateway)
  for (const path of ['/v1/complete', '/v1/v1/complete', '//v1//complete/', '/v1/m%C3%A9', '/']) {
    const answer = await caller.ask({ path: `${path}?key=secret`, method: 'PUT' })
    assert.equal(answer.status, 404)
    const { message } = refusalOf(answer).error
    assert.equal(message, `PUT ${path}: there is no such path`)
  }
  const long = `/v1/${'x'.repeat(2_000)}`
  const { message } = refusalOf(await caller.ask({ path: long })).error
  assert.equal(message, `POST ${long.slice(0, 512)}…: there is no such path`)
  caller.end()
})

test('HEAD /v1/messages: 405, with the method that is allowed', async () => {
  const caller = await createCaller(gateway)
  const { status, headers, bytes } = await caller.ask({ method: 'HEAD' })
  assert.deepEqual([status, headers.allow, bytes.length], [405, 'POST', 0])
  caller.end()
})

for (const path of ['/v1/me', '/v1/models', '/models/model-small', '/api/hello', '/openapi.json']) {
  test(`HEAD ${path} has the head of GET and no body`, async () => {
    const caller = await createCaller(gateway)
    const [got, head] = [
      await caller.ask({ path, method: 'GET' }),
      await caller.ask({ path, method: 'HEAD' }),
    ]
    assert.deepEqual([got.status, head.status], [200, 200])
    for (const name of ['content-type', 'content-length', 'cache-control']) {
      assert.equal(head.headers[name], got.headers[name], name)
    }
    assert.match(String(head.headers['request-id']), /^req_/)
    assert.equal(head.bytes.length, 0)
    assert.equal(head.brokenBy, null)
    caller.end()
  })
}
