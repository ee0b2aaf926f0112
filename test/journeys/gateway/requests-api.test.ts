// GET /v1/requests and /v1/requests/{id} by key: what they say about each request is what its entry
// says, for requests of all kinds, page by page, and for the owner of the key alone.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { BookId } from '../../../src/platform/ids.ts'
import { createTestGateway, type TestGateway } from '../../stages/gateway.ts'
import { random } from '../../support/drill.ts'
import { createTestLedger } from '../../support/harness.ts'
import { type Caller, createCaller } from './caller.ts'
import { type Answer, question, refusalOf } from './client.ts'

type Line = Readonly<Record<string, unknown>> & { readonly id: string; readonly credits: string }
type Page = {
  readonly data: readonly Line[]
  readonly has_more: boolean
  readonly next_cursor: string | null
}

const seed = Math.floor(Math.random() * 2 ** 31)
const at = {} as { gateway: TestGateway; who: Caller }
before(async () => {
  at.gateway = await createTestGateway()
  at.who = await createCaller(at.gateway, 50_000_000)
})
after(async () => {
  at.who?.end()
  await at.gateway.end()
})

function get(who: Caller, path: string, method = 'GET'): Promise<Answer> {
  return who.ask({ path, method })
}

async function read<T>(who: Caller, path: string): Promise<T> {
  const answer = await get(who, path)
  assert.equal(answer.status, 200, answer.bytes.toString())
  return JSON.parse(answer.bytes.toString())
}

/** Every line that matches, page by page. */
async function all(who: Caller, filter = 'limit=7'): Promise<Line[]> {
  const lines: Line[] = []
  for (let cursor = ''; ; ) {
    const page = await read<Page>(who, `/v1/requests?${filter}${cursor}`)
    lines.push(...page.data)
    assert.equal(page.has_more, page.next_cursor !== null)
    if (page.next_cursor === null) return lines
    cursor = `&cursor=${page.next_cursor}`
  }
}

/** What PostgreSQL makes of the entries, newest first. */
async function bySql(book: BookId): Promise<Record<string, unknown>[]> {
  const { rows } = await at.gateway.database.db.query(
    `select 'req_' || replace(e.hold_id::text, '-', '') as id, t.model, e.ending::text as ending,
       trim_scale(-e.amount / 1000000.0)::text as credits,
       trim_scale(e.balance / 1000000.0)::text as balance_after,
       coalesce(e.input, 0)::int4 as input, coalesce(e.output, 0)::int4 as output,
       coalesce(e.cache_read, 0)::int4 as cache_read,
       coalesce(e.cache_write_5m, 0)::int4 as cache_write_5m,
       coalesce(e.cache_write_1h, 0)::int4 as cache_write_1h,
       e.session_id, e.agent_id, e.parent_agent_id, e.label, e.streamed as is_stream,
       e.first_byte_ms, e.total_ms, e.waited_ms, e.stop_reason, e.error_type, e.message_id
     from entries e join tariffs t on t.id = e.tariff
     where e.book_id = $1 and e.kind in ('charge', 'void') order by e.seq desc`,
    [book],
  )
  return rows as Record<string, unknown>[]
}

/** The members of a line that PostgreSQL computed, in its form. */
function flat(line: Record<string, unknown>): Record<string, unknown> {
  const { tokens, timings, ...rest } = line as Record<string, Record<string, unknown>>
  return { ...rest, ...tokens, ...timings }
}

function assertEqual(line: Line, expected: Record<string, unknown>): void {
  const shown = flat(line)
  const same = Object.fromEntries(Object.keys(expected).map((name) => [name, shown[name]]))
  assert.deepEqual(same, expected)
}

test('the cost of a stream is known when its last event has arrived', async () => {
  const body = question('[[reply: text 40]]', { stream: true })
  const { headers, bytes } = await at.who.ask({ body, headers: { 'x-credit-label': 'mine' } })
  assert.match(bytes.toString(), /message_stop/)
  const id = String(headers['request-id'])
  const found = await read<Line>(at.who, `/v1/requests/${id}`)
  const [expected = {}] = await bySql(at.who.book)
  assertEqual(found, expected)
  const { state, ending, label, is_stream } = found
  assert.deepEqual([state, ending, label, is_stream], ['ended', 'complete', 'mine', true])
  const usage = at.who.last().usage
  const { lines, priced } = found.charge as {
    lines: { kind: string; tokens: number; credits: string; credits_per_token: string }[]
    priced: string
  }
  assert.deepEqual(
    lines.map((one) => [one.kind, one.tokens, one.credits_per_token]),
    [
      ['input', usage?.input_tokens, '1'],
      ['output', usage?.output_tokens, '5'],
    ],
  )
  assert.equal(priced, found.credits)
  assert.equal(String(lines.reduce((sum, one) => sum + Number(one.credits), 0)), found.credits)
})

test('the cost of a plain reply is the one that its header says', async () => {
  const { headers } = await at.who.ask({ body: question('[[reply: text 3]]') })
  const found = await read<Line>(at.who, `/v1/requests/${headers['request-id']}`)
  assert.equal(found.credits, headers['x-credit-charged'])
})

test('a request that runs is running, and in no list', async () => {
  const who = await createCaller(at.gateway)
  const body = question('[[reply: text 30]] [[fault: silence-after=3]]', { stream: true })
  const sent = who.send({ body })
  const { headers } = await sent.head
  const id = String(headers['request-id'])
  assert.deepEqual(await read(who, `/v1/requests/${id}`), { type: 'request', id, state: 'running' })
  assert.deepEqual(await all(who), [])
  sent.disconnect()
  await at.gateway.settled(who.book)
  const ended = await read<Line>(who, `/v1/requests/${id}`)
  assert.deepEqual([ended.state, ended.ending], ['ended', 'client_left'])
  who.end()
})

test(`every line equals its entry, for requests of all kinds (seed ${seed})`, async () => {
  const who = await createCaller(at.gateway, 50_000_000)
  const owner = await createTestLedger(at.gateway.database.url, {}, { isStarted: false })
  const draw = random(seed)
  for (let count = 0; count < 60; count++) await askAny(who, draw)
  await at.gateway.settled(who.book)
  for (const _ of ['before', 'after aggregation']) {
    const [lines, expected] = [await all(who), await bySql(who.book)]
    assert.equal(lines.length, expected.length)
    for (const [i, line] of lines.entries()) {
      const { balance_after, ...inList } = expected[i] as Record<string, unknown>
      assertEqual(line, inList)
      const single = await read<Line>(who, `/v1/requests/${line.id}`)
      assertEqual(single, { ...inList, balance_after })
      if (single.charge !== null) assertAddsUp(single)
    }
    for (const ending of ['charged', 'free', 'complete', 'upstream_failed']) {
      const isWanted = (one: Record<string, unknown>) =>
        ending === 'charged'
          ? one.credits !== '0'
          : ending === 'free'
            ? one.credits === '0'
            : one.ending === ending
      assert.deepEqual(
        (await all(who, `limit=5&ending=${ending}`)).map(({ id }) => id),
        expected.filter(isWanted).map(({ id }) => id),
        ending,
      )
    }
    for (const [name, column, value] of [
      ['session', 'session_id', 's-1'],
      ['label', 'label', 'nightly'],
      ['session', 'session_id', 'nobody'],
    ] as const) {
      assert.deepEqual(
        (await all(who, `limit=3&${name}=${value}`)).map(({ id }) => id),
        expected.filter((one) => one[column] === value).map(({ id }) => id),
        `${name} ${value}`,
      )
    }
    const ofModel = await all(who, 'model=model-small')
    assert.ok(ofModel.length > 0 && ofModel.every(({ model }) => model === 'model-small'))
    assert.equal(await owner.aggregateUsage(), true)
  }
  await owner.end()
  who.end()
})

async function askAny(who: Caller, draw: () => number): Promise<void> {
  const one = <T>(choices: readonly T[]) => choices[Math.floor(draw() * choices.length)] as T
  const fault = one(['', '', '', '[[fault: status=500]]', '[[fault: error-after=4]]'])
  const text = `[[reply: text ${1 + Math.floor(draw() * 30)}]] ${fault}`
  const content = one([
    text,
    [{ type: 'text', text, cache_control: { type: 'ephemeral', ttl: one(['5m', '1h']) } }],
  ])
  const ids = {
    'x-claude-code-session-id': one([undefined, 's-1', 's-2']),
    'x-claude-code-agent-id': one([undefined, 'a-1']),
    'x-credit-label': one([undefined, 'nightly']),
  }
  const more = {
    model: one(['model-small', 'model-large']),
    stream: one([true, false]),
    messages: [{ role: 'user', content }],
  }
  await who.ask({ body: question('', more), headers: ids })
}

function assertAddsUp({ credits, charge }: Line): void {
  const { lines, passes, uses, priced, written_off } = charge as {
    readonly lines: readonly { credits: string }[]
    readonly passes: readonly { lines: readonly { credits: string }[] }[]
    readonly uses: readonly { credits: string }[]
    readonly priced: string
    readonly written_off: string
  }
  const parts = [...lines, ...passes.flatMap((pass) => pass.lines), ...uses]
  assert.equal(
    parts.reduce((sum, part) => sum + microOf(part.credits), 0n),
    microOf(priced),
  )
  assert.equal(microOf(credits) + microOf(written_off), microOf(priced))
}

function microOf(text: string): bigint {
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(6, '0'))
}

test('pages neither skip nor repeat while new requests arrive', async () => {
  const who = await createCaller(at.gateway)
  const send = (count: number) =>
    Promise.all(Array.from({ length: count }, () => who.ask({ body: question('Hi') })))
  await send(23)
  const before = (await bySql(who.book)).map(({ id }) => id)
  const seen: string[] = []
  for (let cursor = ''; ; ) {
    const page = await read<Page>(who, `/v1/requests?limit=5${cursor}`)
    seen.push(...page.data.map(({ id }) => id))
    if (page.next_cursor === null) break
    cursor = `&cursor=${page.next_cursor}`
    await send(2)
  }
  assert.deepEqual(seen, before)
  who.end()
})

test('days are those of the zone, times are exact', async () => {
  const who = await createCaller(at.gateway)
  await who.ask({ body: question('Hi') })
  const moment = String((await all(who))[0]?.ended_at)
  const dayIn = (zone: string) =>
    new Intl.DateTimeFormat('sv', { timeZone: zone, dateStyle: 'short' }).format(new Date(moment))
  const later = new Date(Date.parse(moment) + 1).toISOString()
  for (const [filter, count] of [
    [`from=${moment}`, 1],
    [`to=${moment}`, 0],
    [`from=${later}`, 0],
    [`to=${later}`, 1],
    [`from=${moment.replace('Z', '+00:00')}`, 1],
    ...['UTC', 'Pacific/Kiritimati', 'Pacific/Pago_Pago'].map(
      (zone) => [`from=${dayIn(zone)}&to=${dayIn(zone)}&zone=${zone}`, 1] as const,
    ),
    ['to=2026-01-01', 0],
  ] as const) {
    assert.equal((await all(who, filter)).length, count, filter)
  }
  who.end()
})

test('a request of another account is as unknown as one that never was', async () => {
  const stranger = await createCaller(at.gateway)
  const { headers } = await at.who.ask({ body: question('Hi') })
  const id = String(headers['request-id'])
  const never = `${id.slice(0, -1)}${id.endsWith('0') ? 1 : 0}`
  const answers = await Promise.all([
    get(stranger, `/v1/requests/${id}`),
    get(at.who, `/v1/requests/${never}`),
    get(at.who, '/v1/requests/req_1'),
    get(at.who, `/v1/requests/${id}%27`),
    // Calls that are not messages have ids, too.
    get(at.who, `/v1/requests/${(await get(at.who, '/v1/me')).headers['request-id']}`),
  ])
  for (const answer of answers) {
    const { request_id, ...rest } = refusalOf(answer)
    assert.equal(answer.status, 404)
    assert.equal(request_id, answer.headers['request-id'])
    assert.deepEqual(rest, {
      type: 'error',
      error: { type: 'not_found_error', message: 'This account has no such request.' },
    })
  }
  assert.deepEqual(await all(stranger), [])
  stranger.end()
})

test('HEAD is answered without a body, other methods with 405', async () => {
  const { headers } = await at.who.ask({ body: question('Hi') })
  for (const path of ['/v1/requests', `/requests/${headers['request-id']}`]) {
    const head = await get(at.who, path, 'HEAD')
    assert.deepEqual([head.status, head.bytes.length], [200, 0])
    assert.ok(Number(head.headers['content-length']) > 0)
    for (const method of ['POST', 'DELETE']) {
      const refused = await get(at.who, path, method)
      assert.deepEqual([refused.status, refused.headers.allow], [405, 'GET, HEAD'])
    }
  }
})

test('a parameter that is wrong, unknown or given twice is refused by its name', async () => {
  for (const [query, message] of [
    ['limit=0', 'limit: Input should be between 1 and 100'],
    ['limit=101', 'limit: Input should be between 1 and 100'],
    ['limit=1e1', 'limit: Input should be between 1 and 100'],
    ['cursor=x', 'cursor: Input should be the next_cursor of an answer with the same filters'],
    ['ending=well', /^ending: Input should be one of charged, free, complete, /],
    ['from=2026-02-30', /^from: Input should be a day or a time/],
    ['to=tomorrow', /^to: /],
    ['zone=Mars/Base', /^zone: /],
    ['model=', 'model: Input should not be empty'],
    [`model=${'x'.repeat(257)}`, 'model: Input is too long'],
    ['model=a&model=b', 'model: given twice'],
    ['session=a%00b', 'session: Input has a NUL character'],
    ['from=2026-02-30T00:00:00Z', /^from: Input should be a day or a time/],
    ['to=2026-13-01T00:00:00Z', /^to: Input should be a day or a time/],
    ['sesion=s-1', /^sesion: expected one of model, ending, /],
  ] as const) {
    const refused = await get(at.who, `/v1/requests?${query}`)
    const { error } = refusalOf(refused)
    assert.deepEqual([refused.status, error.type], [400, 'invalid_request_error'], query)
    if (typeof message === 'string') assert.equal(error.message, message)
    else assert.match(error.message, message)
  }
  assert.equal((await get(at.who, '/v1/requests?beta=true')).status, 200)
})

test('the owner of a paused or empty account may read; a revoked key may not', async () => {
  const who = await createCaller(at.gateway, 1)
  const { ledger, keys, database } = at.gateway
  assert.equal((await who.ask({ body: question('Hi') })).status, 402)
  assert.deepEqual(await all(who), [])
  await database.db.query(`select ledger_block($1, 'owner_suspended')`, [who.book])
  assert.equal((await ledger.balance(who.book))?.blockedReason, 'owner_suspended')
  assert.deepEqual(await all(who), [])
  await database.db.transaction((tx) => keys.revoke(tx, who.book))
  const { status } = await get(who, '/v1/requests')
  assert.equal(status, 401)
  const keyless = { path: '/v1/requests', method: 'GET', headers: { 'x-api-key': '' } }
  assert.equal((await who.ask(keyless)).status, 401)
  who.end()
})

test('an account that reads all the time does not delay the messages of another', async () => {
  const [reader, writer] = [await createCaller(at.gateway), await createCaller(at.gateway)]
  await reader.ask({ body: question('Hi') })
  await writer.ask({ body: question('Hi') })
  let reads = 0
  let isOver = false
  let most = 0
  const flood = Array.from({ length: 64 }, async () => {
    while (!isOver) {
      const { status } = await get(reader, '/v1/requests?limit=100')
      assert.ok(status === 200 || status === 529, String(status))
      if (status === 200) reads += 1
      most = Math.max(most, await at.gateway.metric('gateway_share_used', { of: 'reads' }))
    }
  })
  for (let count = 0; count < 30; count++) {
    const { status } = await writer.ask({ body: question('[[reply: text 2]]') })
    assert.equal(status, 200)
  }
  isOver = true
  await Promise.all(flood)
  assert.ok(reads > 0, 'the reader is served, too')
  assert.ok(most <= 4, `${most} reads ran at a time`)
  reader.end()
  writer.end()
})
