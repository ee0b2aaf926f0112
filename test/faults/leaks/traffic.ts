// Requests of every kind, each with words of its own in every place of its body where a client puts
// words. Says which words those were, which came back as replies, and all that came back.
import { randomBytes } from 'node:crypto'
import { request } from 'node:http'
import type { Secret } from './leaks.ts'

export type Answer = {
  readonly about: string
  readonly status: number
  /** Names and values in turn. */
  readonly headers: readonly string[]
  readonly body: string
}

type Sending = {
  readonly about: string
  readonly path?: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  /** Hang up after so many bytes of the reply; 0: before any. */
  readonly leaveAfter?: number
}

export type Traffic = ReturnType<typeof createTraffic>

export function createTraffic(url: string, upstream: { key: string; organization: string }) {
  const answers: Answer[] = []
  /** May be nowhere but in what the client itself sent. */
  const words: Secret[] = []
  /** The same, but for sentences that tell the client what was wrong with its own words. */
  const quoted: Secret[] = []

  function word(about: string): string {
    const text = `canary-${randomBytes(9).toString('hex')}`
    words.push({ what: `words of ${about}`, text })
    return text
  }

  function quotedWord(about: string): string {
    const text = `canary-${randomBytes(9).toString('hex')}`
    quoted.push({ what: `words of ${about}`, text })
    return text
  }

  async function send(sending: Sending): Promise<Answer> {
    const answer = await exchange(url, sending)
    answers.push(answer)
    return answer
  }

  /** A message request; `orders` tell the stand-in what to do. */
  function message(
    about: string,
    key: string,
    more: Readonly<Record<string, unknown>> = {},
    orders = '',
    sending: Partial<Sending> = {},
  ): Promise<Answer> {
    const body = {
      model: 'model-small',
      max_tokens: 300,
      system: word(`${about}, system`),
      metadata: { user_id: word(`${about}, metadata`) },
      stop_sequences: [word(`${about}, stop sequence`)],
      messages: [
        { role: 'user', content: word(`${about}, first turn`) },
        { role: 'assistant', content: [{ type: 'text', text: word(`${about}, assistant`) }] },
        { role: 'user', content: `${word(`${about}, last turn`)} ${orders}` },
      ],
      ...more,
    }
    return send({ about, headers: { 'x-api-key': key }, body: JSON.stringify(body), ...sending })
  }

  const scene = { send, message, word, quotedWord, upstream }
  return {
    answers,
    words,
    quoted,
    send,
    message,
    /** Replies of every kind. */
    replies: (key: string) => replies(scene, key),
    /** Noes of the upstream, of every kind and with everything they should not say. */
    upstreamFailures: (key: string) => upstreamFailures(scene, key),
    /** Noes of ours. */
    refusals: (key: string, poorKey: string) => refusals(scene, key, poorKey),
  }
}

type Scene = Pick<Traffic, 'send' | 'message'> & {
  word(about: string): string
  quotedWord(about: string): string
  readonly upstream: { readonly key: string; readonly organization: string }
}

async function replies({ message, send, word }: Scene, key: string): Promise<void> {
  const tool = {
    name: 'weather',
    description: word('a tool'),
    input_schema: { type: 'object', properties: { [word('a schema')]: { type: 'string' } } },
  }
  const document = {
    type: 'document',
    source: { type: 'text', media_type: 'text/plain', data: word('a document') },
    cache_control: { type: 'ephemeral' },
  }
  const thinking = { thinking: { type: 'enabled', budget_tokens: 1_024 }, max_tokens: 2_000 }
  const kinds: [about: string, more: Record<string, unknown>, orders: string][] = [
    ['text', {}, ''],
    ['unicode', {}, '[[reply: unicode 40]]'],
    ['a tool', { tools: [tool] }, 'use the weather tool'],
    ['thinking', thinking, '[[reply: thinking 30 text 20]]'],
    ['redacted thinking', thinking, '[[reply: redacted text 20]]'],
    ['a document', { messages: [{ role: 'user', content: [document] }] }, ''],
    ['a large body', { system: `${word('a large body')} ${'filling '.repeat(50_000)}` }, ''],
    ['compressed', {}, '[[fault: gzip]]'],
    ['no usage', {}, '[[fault: no-usage]] [[reply: text 20]]'],
    ['impossible usage', {}, '[[fault: usage-output=90000]] [[reply: text 20]]'],
    ['unknown events', {}, '[[fault: unknown-event unknown-field double-delta]]'],
  ]
  for (const [about, more, orders] of kinds) {
    await message(`${about}, plain`, key, more, orders)
    await message(`${about}, streamed`, key, { ...more, stream: true }, orders)
  }
  const long = '[[reply: text 200]] [[fault: pace-ms=5]]'
  const left = { stream: true }
  await message('left before the reply', key, left, '[[fault: headers-ms=300]]', { leaveAfter: 0 })
  await message('left within the reply', key, left, long, { leaveAfter: 2_000 })
  await message('left a plain reply', key, {}, '[[fault: headers-ms=300]]', { leaveAfter: 0 })
  const counted = { model: 'model-small', messages: [{ role: 'user', content: word('a count') }] }
  const headers = { 'x-api-key': key }
  const path = '/v1/messages/count_tokens'
  await send({ about: 'count', path, headers, body: JSON.stringify(counted) })
  for (const one of ['/v1/me', '/v1/models', `/v1/models?after_id=${word('a query')}`]) {
    await send({ about: one, path: one, method: 'GET', headers })
  }
}

async function upstreamFailures(scene: Scene, key: string): Promise<void> {
  const { message, quotedWord, upstream, send } = scene
  const statuses = [400, 401, 402, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 504, 529]
  for (const status of statuses) {
    const name = `upstream ${status}`
    const quoting = (text: string) => `[[fault: status=${status} message=${JSON.stringify(text)}]]`
    await message(`${name}, our key`, key, {}, `[[fault: status=${status} echo-key]]`)
    await message(`${name}, our organization`, key, {}, quoting(`for ${upstream.organization}`))
    // An upstream may quote the prompt in its error: that is for the client and nobody else.
    await message(`${name}, the prompt`, key, {}, quoting(`bad: ${quotedWord(name)}`))
    await message(`${name}, a page`, key, {}, `[[fault: status=${status} html]]`)
    await message(`${name}, nothing`, key, {}, `[[fault: status=${status} empty]]`)
  }
  const ways = ['drop', 'reset-at=300', 'fin-at=300', 'end-at=300', 'html', 'empty']
  for (const way of ways) {
    await message(`${way}, plain`, key, {}, `[[fault: ${way}]]`)
    await message(`${way}, streamed`, key, { stream: true }, `[[fault: ${way}]]`)
  }
  for (const said of [`key ${upstream.key}`, `organization ${upstream.organization}`]) {
    const text = JSON.stringify(`refused for ${said}`)
    for (const chunk of ['', ' chunk=7']) {
      const orders = `[[fault: error-after=3 message=${text}${chunk}]] [[reply: text 30]]`
      await message(`an error event, ${said.split(' ')[0]}`, key, { stream: true }, orders)
    }
  }
  const counted = (orders: string) =>
    JSON.stringify({ model: 'model-small', messages: [{ role: 'user', content: orders }] })
  for (const fault of ['status=400 echo-key', 'status=401 echo-key', 'status=500 html', 'drop']) {
    await send({
      about: `count, ${fault}`,
      path: '/v1/messages/count_tokens',
      headers: { 'x-api-key': key },
      body: counted(`[[fault: ${fault}]]`),
    })
  }
}

async function refusals(scene: Scene, key: string, poorKey: string): Promise<void> {
  const { send, message, word, quotedWord } = scene
  const headers = { 'x-api-key': key }
  const turn = (text: string) => ({ role: 'user', content: text })
  await message('no credits', poorKey)
  await message('an unknown model', key, { model: quotedWord('a model') })
  await message('a wrong role', key, { messages: [{ role: quotedWord('a role'), content: 'x' }] })
  await message('a wrong turn', key, { messages: [word('a bare turn')] })
  await message('a wrong temperature', key, { temperature: word('a temperature') })
  await message('a wrong max_tokens', key, { max_tokens: word('max_tokens') })
  await message('a wrong stop', key, { stop_sequences: word('stop_sequences') })
  await message('a wrong stream', key, { stream: word('stream') })
  await message('a thread', key, { thread: { id: word('a thread') } })
  await message('server tools', key, {
    tools: [{ type: 'web_search_20250305', name: 'web_search' }],
  })
  const cut = JSON.stringify({ model: 'model-small', messages: [turn(word('broken JSON'))] })
  await send({ about: 'broken JSON', headers, body: cut.slice(0, -3) })
  await send({ about: 'JSON of one word', headers, body: JSON.stringify(word('one word')) })
  const wrongBytes = Buffer.concat([Buffer.from(word('wrong UTF-8')), Buffer.from([0xff, 0xfe])])
  await send({ about: 'wrong UTF-8', headers, body: wrongBytes })
  const twice = `{"model":"${word('a name given twice')}","model":"model-small"}`
  await send({ about: 'a member twice', headers, body: twice })
  const tooLarge = `{"messages":"${word('too large a body')}${'x'.repeat(3_000_000)}"}`
  await send({ about: 'too large', headers, body: tooLarge })
  const plainText = { ...headers, 'content-type': 'text/plain' }
  await send({ about: 'not JSON', headers: plainText, body: word('a text') })
  const gzip = { ...headers, 'content-encoding': 'gzip' }
  await send({ about: 'compressed', headers: gzip, body: word('a compressed body') })
  const path = `/v1/nowhere?prompt=${word('a query')}`
  await send({ about: 'an unknown path', path, headers, body: word('a body to nowhere') })
  await send({ about: 'a wrong method', method: 'GET', path: '/v1/messages', headers })
}

/** Everything that came back, whole or not. */
function exchange(url: string, sending: Sending): Promise<Answer> {
  const { about, path = '/v1/messages', method = 'POST', body, leaveAfter } = sending
  const headers = { 'content-type': 'application/json', ...sending.headers }
  return new Promise((resolve) => {
    const outgoing = request(url + path, { method, headers })
    const chunks: Buffer[] = []
    const head: { status: number; headers: string[] } = { status: 0, headers: [] }
    const over = () => resolve({ about, ...head, body: Buffer.concat(chunks).toString('utf8') })
    outgoing.once('error', over)
    outgoing.once('close', over)
    outgoing.once('response', (incoming) => {
      head.status = incoming.statusCode ?? 0
      head.headers = incoming.rawHeaders
      incoming.on('data', (chunk: Buffer) => {
        chunks.push(chunk)
        const bytes = chunks.reduce((sum, one) => sum + one.length, 0)
        if (leaveAfter !== undefined && bytes > leaveAfter) outgoing.destroy()
      })
    })
    outgoing.end(body)
    // The request has certainly arrived by then, and its reply, which is slow, has not.
    if (leaveAfter === 0) setTimeout(() => outgoing.destroy(), 100)
  })
}
