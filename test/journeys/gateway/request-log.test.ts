// The request log: each finished request has one line with ids, account, model, counts, times,
// sizes and its ending, and no line has text of a conversation or a key.
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import { createTestGateway, type TestGateway } from '../../stages/gateway.ts'
import { sleep } from '../../support/drill.ts'
import { type Caller, createCaller } from './caller.ts'
import { question } from './client.ts'

const CANARY = 'canary4b1d77'
const logLines: string[] = []
const at = { gateway: undefined as unknown as TestGateway, own: undefined as unknown as Caller }

before(async () => {
  at.gateway = await createTestGateway({ logLines })
  at.own = await createCaller(at.gateway)
})
after(async () => {
  at.own.end()
  await at.gateway.end()
})

type Line = Record<string, unknown>

/** The lines about requests that `act` caused, once there are `count` of them. */
async function linesOf(act: () => Promise<unknown>, count = 1): Promise<Line[]> {
  const from = logLines.length
  await act()
  const found = () =>
    logLines
      .slice(from)
      .map((line) => JSON.parse(line) as Line)
      .filter(({ msg }) => msg === 'request')
  for (let i = 0; i < 1_000 && found().length < count; i++) await sleep(10)
  await sleep(20) // a second line about the same request would follow at once
  const lines = found()
  assert.equal(lines.length, count, JSON.stringify(lines))
  return lines
}

const ask = (text: string, more: Readonly<Record<string, unknown>> = {}) =>
  at.own.ask({ body: question(text, more) })

for (const stream of [false, true]) {
  const kind = stream ? 'streamed' : 'plain'
  test(`a ${kind} reply has one line with ids, counts, times and sizes`, async () => {
    let answer: Awaited<ReturnType<typeof ask>> | undefined
    const [line = {}] = await linesOf(async () => {
      answer = await ask(`${CANARY} [[reply: text 30]]`, { stream })
    })
    const [entry] = (await at.gateway.ledger.statement({
      ...{ book: at.own.book, beforeSeq: null, limit: 1 },
    })) as { input: bigint; output: bigint; messageId: string; vendorRequestId?: string }[]
    assert.equal(line.level, 'info')
    assert.equal(line.request, answer?.headers['request-id'])
    assert.match(String(line.vendorRequest), /^req_/)
    assert.notEqual(line.vendorRequest, line.request)
    assert.equal(line.messageId, entry?.messageId)
    const { book, keyId, route, method, status, ending, model, target, attempts } = line
    assert.deepEqual([book, keyId], [String(at.own.book), at.own.keyId])
    assert.deepEqual([route, method, status, ending], ['/messages', 'POST', 200, 'complete'])
    assert.deepEqual([model, target, attempts, line.isStream], ['model-small', 'only#1', 1, stream])
    assert.deepEqual(
      [line.inputTokens, line.outputTokens, line.isEstimated],
      [Number(entry?.input), Number(entry?.output), false],
    )
    assert.equal(line.bytesOut, answer?.bytes.length)
    assert.equal(line.bytesIn, question(`${CANARY} [[reply: text 30]]`, { stream }).length)
    const steps = ['keyMs', 'bodyMs', 'holdMs', 'routeMs', 'statusMs', 'replyMs', 'settleMs']
    for (const step of steps) assert.ok((line[step] as number) >= 0, `${step} ${line[step]}`)
    const sum = steps.reduce((all, step) => all + (line[step] as number), 0)
    assert.ok(sum <= (line.totalMs as number) + 1, 'the steps follow one another')
    assert.equal(line.code, undefined)
  })
}

test('the time to the first chunk begins when the request is sent upstream', async () => {
  const read = () => at.gateway.observed('gen_ai_client_operation_time_to_first_chunk_seconds')
  const before = await read()
  const [line = {}] = await linesOf(() => ask('Hello', { stream: true }))
  const ms = ((await read()) - before) * 1_000
  assert.ok(Math.abs(ms - (line.statusMs as number)) < 0.1, `${ms}, not ${line.statusMs}`)
})

test('a request refused for credits has one line with its account and its code', async () => {
  const poor = await createCaller(at.gateway, 0)
  const [line = {}] = await linesOf(() => poor.ask({ body: question(CANARY) }))
  poor.end()
  assert.deepEqual(
    [line.level, line.book, line.status, line.ending, line.code, line.model],
    ['info', String(poor.book), 402, 'refused', 'credits_insufficient', 'model-small'],
  )
  assert.deepEqual([line.target, line.inputTokens, line.sentMs], [undefined, undefined, undefined])
})

test('an error of the upstream has one line, also one that we answer in our words', async () => {
  const [refused = {}] = await linesOf(() => ask(`[[fault: status=400 message="${CANARY}"]]`))
  assert.deepEqual(
    [refused.level, refused.status, refused.ending, refused.code],
    ['info', 400, 'refused', undefined],
  )
  const [failed = {}] = await linesOf(() => ask('[[fault: drop]]'))
  assert.deepEqual(
    [failed.level, failed.status, failed.ending, failed.code],
    ['warn', 502, 'upstream_failed', 'upstream_failed'],
  )
  const [broken = {}] = await linesOf(() =>
    ask('[[reply: text 50]] [[fault: reset-at=700]]', { stream: true }),
  )
  assert.deepEqual([broken.status, broken.ending], [200, 'upstream_failed'])
  assert.ok((broken.inputTokens as number) > 0, 'what the reply had reported by then')
})

test('a client that left has one line with what it was charged for', async () => {
  const [line = {}] = await linesOf(async () => {
    const sent = at.own.send({
      body: question('[[reply: text 300]] [[fault: pace-ms=5]]', { stream: true }),
    })
    await sent.until((bytes) => bytes.length > 1_000)
    sent.disconnect()
  })
  assert.deepEqual([line.ending, line.status, line.isEstimated], ['client_left', 200, true])
  assert.ok((line.bytesOut as number) > 1_000)
})

test('refused requests are counted for their account by reason, served ones are not', async () => {
  const caller = await createCaller(at.gateway)
  const poor = await createCaller(at.gateway, 0)
  const reissued = await createCaller(at.gateway)
  const { db } = at.gateway.database
  await caller.ask({ body: question('[[reply: text 3]]') })
  await caller.ask({ body: question('x', { temperature: 9 }) })
  await caller.ask({ body: question('x', { model: CANARY }) })
  await caller.ask({ body: question('[[fault: status=400]]') })
  await caller.ask({ body: question('[[fault: drop]]') })
  await caller.ask({ headers: { 'content-type': 'text/plain' }, body: 'x' })
  for (let i = 0; i < 3; i++) await poor.ask({ body: question() })
  await db.transaction((tx) => at.gateway.keys.revoke(tx, reissued.book))
  await reissued.ask({ path: '/v1/me', method: 'GET' })
  const { refused } = at.gateway.ledger.usage
  await refused.flush()
  const countsOf = async ({ book }: Caller) => {
    const listed = await refused.list({ book, from: null, to: null })
    return listed.map(({ reason, requests }) => `${reason} ${requests}`).toSorted()
  }
  // Without a right key, as for a wrong content type, which is refused before, no account is known.
  assert.deepEqual(await countsOf(caller), [
    'field_invalid 1',
    'model_unknown 1',
    'upstream_refused 1',
  ])
  assert.deepEqual(await countsOf(poor), ['credits_insufficient 3'])
  assert.deepEqual(await countsOf(reissued), ['key_revoked 1'])
  assert.ok((await at.gateway.metric('gateway_refusals_total')) >= 8)
  for (const one of [caller, poor, reissued]) one.end()
})

test('every other path has one line, with an account if the key was right', async () => {
  const paths = [
    ['GET', '/v1/me', 200, '/me', 'complete'],
    ['GET', '/v1/models', 200, '/models', 'complete'],
    ['GET', `/v1/models/${CANARY}`, 404, '/models/{id}', 'refused'],
    ['GET', `/v1/${CANARY}?q=${CANARY}`, 404, 'other', 'refused'],
    ['HEAD', '/api/hello', 200, '/api/hello', 'complete'],
  ] as const
  for (const [method, path, status, route, ending] of paths) {
    const [line = {}] = await linesOf(() => at.own.ask({ method, path }))
    assert.deepEqual([line.status, line.route, line.ending], [status, route, ending], path)
    const isKeyRead = path.startsWith('/v1/m')
    assert.equal(line.book, isKeyRead ? String(at.own.book) : undefined, path)
  }
  const body = JSON.stringify({
    model: 'model-small',
    messages: [{ role: 'user', content: CANARY }],
  })
  const [count = {}] = await linesOf(() => at.own.ask({ path: '/v1/messages/count_tokens', body }))
  assert.deepEqual(
    [count.route, count.ending, count.target],
    ['/messages/count_tokens', 'complete', 'only#1'],
  )
})

test('a wrong key has a line without the key', async () => {
  const key = `sk-vendor-api03-${CANARY.repeat(6)}`
  const [line = {}] = await linesOf(() =>
    at.own.ask({ headers: { 'x-api-key': key }, body: question() }),
  )
  assert.deepEqual([line.status, line.code, line.book], [401, 'key_malformed', undefined])
})

test('bytes that are not a request have a line with the id that the client got', async () => {
  let answer = ''
  const [line = {}] = await linesOf(
    () =>
      new Promise<void>((resolve) => {
        const socket = connect(at.gateway.port, '127.0.0.1')
        socket.on('data', (chunk) => {
          answer += chunk.toString()
        })
        socket.on('close', () => resolve())
        socket.end(`${CANARY}\r\n\r\n`)
      }),
  )
  assert.deepEqual([line.status, line.code], [400, 'http_malformed'])
  assert.ok(answer.includes(String(line.request)))
})

test('a flood without a valid key writes few lines and says how many it left out', async () => {
  const revoked = await createCaller(at.gateway)
  const { db } = at.gateway.database
  await db.transaction((tx) => at.gateway.keys.revoke(tx, revoked.book))
  const withoutKey = () => at.own.ask({ method: 'GET', path: `/${CANARY}` })
  const withRevoked = () => revoked.ask({ method: 'GET', path: '/v1/me' })
  for (const send of [withoutKey, withRevoked]) {
    const flood = Array.from({ length: 400 }, send)
    const from = logLines.length
    await Promise.all(flood)
    await sleep(1_100)
    await linesOf(() => at.own.me())
    const lines = logLines.slice(from).map((line) => JSON.parse(line) as Line)
    const requests = lines.filter(({ msg }) => msg === 'request')
    const omitted = requests.reduce((sum, line) => sum + Number(line.omitted ?? 0), 0)
    assert.equal(requests.length + omitted, flood.length + 1)
    assert.ok(omitted > 0)
  }
  revoked.end()
})

test('a client that left before the answer has no status and no code', async () => {
  const [line = {}] = await linesOf(async () => {
    const sent = at.own.send({
      body: question('[[fault: headers-ms=400]]', { stream: true }),
    })
    await at.own.upstream(({ outcome }) => outcome === 'open')
    sent.disconnect()
  })
  assert.deepEqual([line.level, line.status, line.code], ['info', undefined, undefined])
  assert.ok(['client_left', 'given_up'].includes(String(line.ending)), String(line.ending))
  assert.equal(line.bytesOut, 0)
})

test('a stream that a drain cuts has a line that says so', async () => {
  const lines: string[] = []
  const gateway = await createTestGateway({ logLines: lines })
  const caller = await createCaller(gateway)
  const sent = caller.send({
    body: question('[[reply: text 300]] [[fault: pace-ms=20]]', { stream: true }),
  })
  await sent.until((bytes) => bytes.length > 500)
  await gateway.drain({ idleMs: 0, limitMs: 100 })
  caller.end()
  await gateway.end()
  const [line, ...others] = lines
    .map((one) => JSON.parse(one) as Line)
    .filter(({ msg }) => msg === 'request')
  assert.deepEqual([line?.ending, line?.status, others.length], ['drained', 200, 0])
  assert.ok((line?.bytesOut as number) > 500)
})

test('no line has a word of a conversation, of a path or of a key', () => {
  const text = logLines.join('')
  assert.ok(logLines.length > 20)
  assert.equal(text.includes(CANARY), false)
  assert.equal(text.includes(at.own.key.slice(-20)), false)
})
