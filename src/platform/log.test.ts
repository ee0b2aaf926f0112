// What must never be logged, tested with canaries, and what must be.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLog } from './log.ts'
import { Masked } from './masked.ts'

const CANARY = 'canary7f3e9b1c'
const KEY = `sk-vendor-api03-${CANARY}_-${CANARY}`

function capture(options: Partial<Parameters<typeof createLog>[0]> = {}) {
  const lines: string[] = []
  const destination = { write: (line: string) => void lines.push(line) }
  const log = createLog({ level: 'trace', destination, ...options })
  return {
    log,
    text: () => lines.join(''),
    last: () => JSON.parse(lines.at(-1) ?? '') as Record<string, unknown>,
  }
}

test('a line carries its level, its time, its fields and its sentence', () => {
  const { log, last } = capture()
  log.child({ room: 'ledger' }).info({ bookId: 7n, tookMs: 3, output: 512 }, 'settled')
  const { time, ...rest } = last()
  assert.match(String(time), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
  assert.deepEqual(rest, {
    level: 'info',
    room: 'ledger',
    bookId: '7',
    tookMs: 3,
    output: 512,
    msg: 'settled',
  })
})

test('the line of a request has the same form as every other line', () => {
  const { log, last } = capture()
  const child = log.child({ room: 'gateway', "q'": 1 }).child({ deeper: true })
  child.record('warn', { request: 'req_1', tookMs: 0.5, absent: undefined, said: 'a "b"\n' }, 'x"y')
  const { time, ...rest } = last()
  assert.match(String(time), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
  const bound = { room: 'gateway', "q'": 1, deeper: true }
  const own = { request: 'req_1', tookMs: 0.5, said: 'a "b"\n' }
  assert.deepEqual(rest, { level: 'warn', ...bound, ...own, msg: 'x"y' })
  log.record('info', {}, 'empty')
  assert.deepEqual(Object.keys(last()), ['level', 'time', 'msg'])
})

test('a key in the line of a request is scrubbed', () => {
  const { log, text } = capture()
  log.child({ seen: KEY }).record('info', { model: KEY, target: `Bearer ${CANARY}` }, `said ${KEY}`)
  assert.equal(text().includes(CANARY), false)
  const pretty = capture({ pretty: true })
  pretty.log.record('info', { model: KEY, status: 200 }, 'request')
  assert.match(pretty.text(), /^[\d:.]+ info {2}request model=sk-vendor-•+ status=200\n$/)
})

test('lines below the level are not written', () => {
  const { log, text } = capture({ level: 'warn' })
  log.info('quiet')
  log.child({ room: 'keys' }).debug({ a: 1 }, 'quiet')
  log.record('info', { a: 1 }, 'quiet')
  assert.equal(text(), '')
  assert.deepEqual([log.isEnabled('info'), log.isEnabled('warn')], [false, true])
})

test('a new level applies to a log, its children and the log that it is a child of', () => {
  const { log, text } = capture({ level: 'silent' })
  const child = log.child({ room: 'keys' })
  child.fatal('quiet')
  child.child({ a: 1 }).setLevel('debug')
  log.debug('one')
  child.record('debug', {}, 'two')
  child.trace('quiet')
  assert.deepEqual(text().match(/"msg":"\w+"/g), ['"msg":"one"', '"msg":"two"'])
})

test('no secret is logged under any spelling of its name, at any depth, or by a child', () => {
  const { log, text } = capture()
  const headers = {
    'x-api-key': CANARY,
    'X-Api-Key': CANARY,
    Authorization: CANARY,
    cookie: CANARY,
  }
  const secrets = { ...headers, key: CANARY, apiKey: CANARY, api_key: CANARY, password: CANARY }
  log.info({ ...secrets, tagSecret: CANARY, secrets: [CANARY], passphrase: 41414141 }, 'top')
  log.info({ a: { b: { c: secrets } }, list: [{ newPassword: CANARY }] }, 'deep')
  log.child({ ...secrets, a: secrets }).info('child')
  assert.equal(text().includes(CANARY), false)
  assert.equal(text().includes('41414141'), false)
  assert.equal(text().split('\n').length, 4)
})

test('a wrapped secret is logged as dots, under any name', () => {
  const { log, text } = capture()
  log.info(
    { plainName: new Masked(CANARY), list: [new Masked(CANARY)] },
    `here: ${new Masked(CANARY)}`,
  )
  assert.equal(text().includes(CANARY), false)
  assert.match(text(), /"plainName":"••••/)
})

test('a key inside a sentence, an error, its stack or its cause is scrubbed', () => {
  const { log, text } = capture()
  const cause = Object.assign(new Error(`no key ${KEY}`), { detail: { seen: KEY } })
  const error = new Error(`cannot use ${KEY} here`, { cause })
  log.error({ err: error }, `failed for ${KEY}`)
  log.child({ seen: KEY }).error(error as never)
  log.warn(`authorization: Bearer ${CANARY}`)
  log.warn({ url: `postgres://gate:${CANARY}@db/gate` }, 'connecting')
  assert.equal(text().includes(CANARY), false)
  assert.match(text(), /cannot use sk-vendor-•+ here/)
  assert.match(text(), /postgres:\/\/gate:•+@db\/gate/)
})

test('keys of the configured slug are scrubbed even when cut short, others by their length', () => {
  const { log, text } = capture({ slug: 'acme' })
  log.info('sk-acme-api03-canary and sk-other-api03-canary-long-enough-to-be-one')
  assert.equal(text().includes('canary'), false)
  log.info('the form is sk-other-api03')
  assert.match(text(), /the form is sk-other-api03/)
})

test('bodies are dropped by field name and by type', () => {
  const { log, text, last } = capture()
  class Socket {
    readonly inside = CANARY
  }
  log.info({ body: CANARY, messages: [{ content: CANARY }], rawBody: CANARY, prompt: CANARY }, 'x')
  log.info({ upstream: { response_body: CANARY, text: CANARY, headers: { a: CANARY } } }, 'x')
  log.info({ bytes: Buffer.from(CANARY), socket: new Socket(), seen: new Map([[1, CANARY]]) }, 'x')
  assert.equal(text().includes(CANARY), false)
  assert.equal(text().includes(Buffer.from(CANARY).toString('base64')), false)
  assert.equal(last().bytes, '[14 bytes]')
  log.info({ note: 'word '.repeat(1_000) }, 'x')
  assert.ok(text().length < 3_000)
})

test('an error keeps its type, stack and code, and nothing that libraries attach to it', () => {
  const { log, last, text } = capture()
  const error = Object.assign(new Error('duplicate'), {
    code: '23505',
    constraint: 'books_once',
    detail: `Key (email)=(${CANARY}) already exists.`,
    parameters: [CANARY],
  })
  log.error({ err: error }, 'x')
  const err = last().err as Record<string, unknown>
  assert.equal(err.code, '23505')
  assert.equal(err.constraint, 'books_once')
  assert.equal(err.type, 'Error')
  assert.match(String(err.stack), /log\.test\.ts/)
  assert.equal(text().includes(CANARY), false)
})

test('a JSON error does not quote the text it could not read', () => {
  const { log, text, last } = capture()
  try {
    JSON.parse(CANARY)
  } catch (error) {
    log.warn({ err: error }, 'unreadable')
  }
  assert.equal((last().err as Record<string, unknown>).type, 'SyntaxError')
  assert.equal(/canary/.test(text()), false)
})

test('pretty lines are filtered in the same way', () => {
  const { log, text } = capture({ pretty: true })
  log.error({ err: new Error(`bad ${KEY}`), room: 'keys', password: CANARY }, 'failed')
  assert.match(
    text(),
    /^\d\d:\d\d:\d\d\.\d{3} error failed room=keys password=•+\n {2}Error: bad sk-/,
  )
  assert.equal(text().includes(CANARY), false)
})
