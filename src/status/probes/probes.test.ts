// The probes that make requests, against a server that answers as it is told: what each answer
// means, and how often a message is paid for.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, beforeEach, test } from 'node:test'
import { Masked } from '../../platform/masked.ts'
import type { ProbeState } from '../components.ts'
import { createProbes, type ProbeOptions } from './probes.ts'

const at = { url: '', status: 200, isOurs: true, isHanging: false, asked: [] as string[] }
const server = createServer((request, response) => {
  at.asked.push(`${request.method} ${request.url} ${request.headers['x-api-key'] ?? 'no key'}`)
  if (at.isHanging) return
  response.writeHead(at.status, at.isOurs ? { 'request-id': 'req_1' } : {})
  response.end('{}')
})
before(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  at.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
after(() => {
  server.close()
  server.closeAllConnections()
})
beforeEach(() => Object.assign(at, { status: 200, isOurs: true, isHanging: false, asked: [] }))

const opened = (change: Partial<ProbeOptions> = {}) =>
  createProbes({
    ...{ apiUrl: at.url, key: new Masked('own-key'), model: () => 'small', turnsPerMessage: 10 },
    ...{ targets: async () => [{ state: 'closed' }], isSelling: true },
    payments: async () => ({ delayP99: null, sweepSeconds: 1, sweepFailures: 0 }),
    letters: async () => ({ heldUpSeconds: 0 }),
    relayProblem: async () => undefined,
    ...change,
  })

async function models(
  change: Partial<ProbeOptions> = {},
  turn = 1n,
  state: ProbeState = 'working',
): Promise<string> {
  const seen = await opened(change).models({ turn, state }, AbortSignal.timeout(10_000))
  return seen.state
}

async function gateway(key = 'own-key', signal = AbortSignal.timeout(10_000)): Promise<string> {
  const probe = opened({ key: new Masked(key) }).gateway
  return (await probe({ turn: 1n, state: 'working' }, signal)).state
}

test('one message in ten turns is paid for; the others count tokens for free', async () => {
  for (let turn = 1n; turn <= 20n; turn++) await models({}, turn)
  const paid = at.asked.filter((one) => one === 'POST /v1/messages own-key')
  const free = at.asked.filter((one) => one === 'POST /v1/messages/count_tokens own-key')
  assert.deepEqual([paid.length, free.length], [2, 18])
})

test('after anything but success a message is asked for until one works', async () => {
  for (const state of ['failed', 'unknown', 'unmeasured'] as const) await models({}, 5n, state)
  assert.ok(at.asked.every((one) => one.startsWith('POST /v1/messages ')))
})

test('a failure of ours is one, and what is about the key of the probes says nothing', async () => {
  for (const [status, state] of [
    [200, 'working'],
    ...[401, 402, 403, 404, 429].map((refused) => [refused, 'unknown'] as const),
    ...[500, 502, 504, 529].map((failed) => [failed, 'failed'] as const),
  ] as const) {
    at.status = status
    assert.equal(await models(), state, String(status))
  }
  at.status = 404
  assert.equal(await models({}, 2n), 'working', 'a server that does not count')
})

test('without a key no request is made, and models are not measured', async () => {
  const key = new Masked('none')
  assert.equal(await models({ key }), 'unmeasured')
  assert.equal(await models({ key, targets: async () => [{ state: 'open' }] }), 'failed')
  assert.equal(await models({ model: () => undefined }), 'unmeasured')
  assert.deepEqual(at.asked, [])
})

test('models are slow while one of several upstreams is out', async () => {
  const targets = async () => [{ state: 'closed' }, { state: 'open' }]
  assert.equal(await models({ targets }), 'slow')
})

test('the gateway works when it answers, whatever it says about the key', async () => {
  at.status = 401
  assert.equal(await gateway(), 'working')
  at.status = 503
  assert.equal(await gateway(), 'failed')
  Object.assign(at, { status: 200, isOurs: false })
  assert.equal(await gateway(), 'failed', 'somebody else answers at our address')
  at.isOurs = true
  assert.equal(await gateway('none'), 'working')
  assert.deepEqual(at.asked.at(-1), 'GET /api/hello no key')
})

test('no answer is a failure, and its reason names no host', async () => {
  at.isHanging = true
  const probe = opened().gateway
  const hung = await probe({ turn: 1n, state: 'working' }, AbortSignal.timeout(100))
  assert.deepEqual(hung, { state: 'failed', reason: 'no answer in time' })
  const refused = await opened({ apiUrl: 'http://127.0.0.1:1' }).gateway(
    { turn: 1n, state: 'working' },
    AbortSignal.timeout(5_000),
  )
  assert.deepEqual(refused, { state: 'failed', reason: 'ECONNREFUSED' })
})

test('e-mails are as late as the oldest one, and failed when the relay refuses us', async () => {
  const letters = async (heldUpSeconds: number, problem?: string) => {
    const options = { letters: async () => ({ heldUpSeconds }), relayProblem: async () => problem }
    const turn = { turn: 1n, state: 'working' as const }
    return (await opened(options).letters(turn, AbortSignal.timeout(5_000))).state
  }
  assert.equal(await letters(120), 'working')
  assert.equal(await letters(121), 'slow')
  assert.equal(await letters(601), 'failed')
  assert.equal(await letters(0, '535 at AUTH'), 'failed')
})
