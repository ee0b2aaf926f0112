// Sends requests of every kind. Each has a random canary in every part of its body that may contain
// a client's text. Records the canaries and all answers, for the search in check.ts.
import { randomBytes } from 'node:crypto'
import { request } from 'node:http'
import type { Secret } from './leaks.ts'

export type Answer = {
  readonly about: string
  readonly status: number
  /** Names and values alternate, as in Node's `rawHeaders`. */
  readonly headers: readonly string[]
  readonly body: string
}

type Sending = {
  readonly about: string
  readonly path?: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  /** Disconnect after more than this many bytes of the reply; 0: before the first byte. */
  readonly leaveAfter?: number
}

export type Traffic = ReturnType<typeof createTraffic>

export function createTraffic(url: string, upstream: { key: string; organization: string }) {
  const answers: Answer[] = []
  /** Canaries that no log, metric, table, file, header or error may contain. */
  const canaries: Secret[] = []
  /** The same, except that the error that answers the request may quote them. */
  const quotedCanaries: Secret[] = []

  function canary(about: string): string {
    const text = `canary-${randomBytes(9).toString('hex')}`
    canaries.push({ what: `canary in ${about}`, text })
    return text
  }

  function quotedCanary(about: string): string {
    const text = `canary-${randomBytes(9).toString('hex')}`
    quotedCanaries.push({ what: `canary in ${about}`, text })
    return text
  }

  async function send(sending: Sending): Promise<Answer> {
    const answer = await exchange(url, sending)
    answers.push(answer)
    return answer
  }

  /** Sends a message; `directives` are the stand-in's `[[reply: …]]` and `[[fault: …]]`. */
  function message(
    about: string,
    key: string,
    more: Readonly<Record<string, unknown>> = {},
    directives = '',
    sending: Partial<Sending> = {},
  ): Promise<Answer> {
    const body = {
      model: 'model-small',
      max_tokens: 300,
      system: canary(`${about}, system`),
      metadata: { user_id: canary(`${about}, metadata`) },
      stop_sequences: [canary(`${about}, stop sequence`)],
      messages: [
        { role: 'user', content: canary(`${about}, first turn`) },
        { role: 'assistant', content: [{ type: 'text', text: canary(`${about}, assistant`) }] },
        { role: 'user', content: `${canary(`${about}, last turn`)} ${directives}` },
      ],
      ...more,
    }
    return send({ about, headers: { 'x-api-key': key }, body: JSON.stringify(body), ...sending })
  }

  const scene = { send, message, canary, quotedCanary, upstream }
  return {
    answers,
    canaries,
    quotedCanaries,
    send,
    message,
    /** Sends requests that get a reply, of every kind. */
    replies: (key: string) => replies(scene, key),
    /** Requests that fail at the upstream; some errors quote our key or the prompt. */
    upstreamFailures: (key: string) => upstreamFailures(scene, key),
    /** Requests that the gateway itself refuses. */
    refusals: (key: string, poorKey: string) => refusals(scene, key, poorKey),
  }
}

type Scene = Pick<Traffic, 'send' | 'message'> & {
  canary(about: string): string
  quotedCanary(about: string): string
  readonly upstream: { readonly key: string; readonly organization: string }
}

async function replies({ message, send, canary }: Scene, key: string): Promise<void> {
  const tool = {
    name: 'weather',
    description: canary('a tool'),
    input_schema: { type: 'object', properties: { [canary('a schema')]: { type: 'string' } } },
  }
  const document = {
    type: 'document',
    source: { type: 'text', media_type: 'text/plain', data: canary('a document') },
    cache_control: { type: 'ephemeral' },
  }
  const thinking = { thinking: { type: 'enabled', budget_tokens: 1_024 }, max_tokens: 2_000 }
  const kinds: [about: string, more: Record<string, unknown>, directives: string][] = [
    ['text', {}, ''],
    ['unicode', {}, '[[reply: unicode 40]]'],
    ['a tool', { tools: [tool] }, 'use the weather tool'],
    ['thinking', thinking, '[[reply: thinking 30 text 20]]'],
    ['redacted thinking', thinking, '[[reply: redacted text 20]]'],
    ['a document', { messages: [{ role: 'user', content: [document] }] }, ''],
    ['a large body', { system: `${canary('a large body')} ${'filling '.repeat(50_000)}` }, ''],
    ['compressed', {}, '[[fault: gzip]]'],
    ['no usage', {}, '[[fault: no-usage]] [[reply: text 20]]'],
    ['impossible usage', {}, '[[fault: usage-output=90000]] [[reply: text 20]]'],
    ['unknown events', {}, '[[fault: unknown-event unknown-field double-delta]]'],
  ]
  for (const [about, more, directives] of kinds) {
    await message(`${about}, plain`, key, more, directives)
    await message(`${about}, streamed`, key, { ...more, stream: true }, directives)
  }
  const long = '[[reply: text 200]] [[fault: pace-ms=5]]'
  const left = { stream: true }
  await message('left before the reply', key, left, '[[fault: headers-ms=300]]', { leaveAfter: 0 })
  await message('left within the reply', key, left, long, { leaveAfter: 2_000 })
  await message('left a plain reply', key, {}, '[[fault: headers-ms=300]]', { leaveAfter: 0 })
  const counted = { model: 'model-small', messages: [{ role: 'user', content: canary('a count') }] }
  const headers = { 'x-api-key': key }
  const path = '/v1/messages/count_tokens'
  await send({ about: 'count', path, headers, body: JSON.stringify(counted) })
  for (const one of ['/v1/me', '/v1/models', `/v1/models?after_id=${canary('a query')}`]) {
    await send({ about: one, path: one, method: 'GET', headers })
  }
}

async function upstreamFailures(scene: Scene, key: string): Promise<void> {
  const { message, quotedCanary, upstream, send } = scene
  const statuses = [400, 401, 402, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 504, 529]
  for (const status of statuses) {
    const name = `upstream ${status}`
    const quoting = (text: string) => `[[fault: status=${status} message=${JSON.stringify(text)}]]`
    await message(`${name}, our key`, key, {}, `[[fault: status=${status} echo-key]]`)
    await message(`${name}, our organization`, key, {}, quoting(`for ${upstream.organization}`))
    // An upstream may quote the prompt in its error: only the client may receive it.
    await message(`${name}, the prompt`, key, {}, quoting(`bad: ${quotedCanary(name)}`))
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
      const directives = `[[fault: error-after=3 message=${text}${chunk}]] [[reply: text 30]]`
      await message(`an error event, ${said.split(' ')[0]}`, key, { stream: true }, directives)
    }
  }
  const counted = (directives: string) =>
    JSON.stringify({ model: 'model-small', messages: [{ role: 'user', content: directives }] })
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
  const { send, message, canary, quotedCanary } = scene
  const headers = { 'x-api-key': key }
  const turn = (text: string) => ({ role: 'user', content: text })
  await message('no credits', poorKey)
  await message('an unknown model', key, { model: quotedCanary('a model') })
  await message('a wrong role', key, { messages: [{ role: quotedCanary('a role'), content: 'x' }] })
  await message('a wrong turn', key, { messages: [canary('a bare turn')] })
  await message('a wrong temperature', key, { temperature: canary('a temperature') })
  await message('a wrong max_tokens', key, { max_tokens: canary('max_tokens') })
  await message('a wrong stop', key, { stop_sequences: canary('stop_sequences') })
  await message('a wrong stream', key, { stream: canary('stream') })
  await message('a thread', key, { thread: { id: canary('a thread') } })
  await message('server tools', key, {
    tools: [{ type: 'web_search_20250305', name: 'web_search' }],
  })
  const cut = JSON.stringify({ model: 'model-small', messages: [turn(canary('broken JSON'))] })
  await send({ about: 'broken JSON', headers, body: cut.slice(0, -3) })
  await send({ about: 'JSON of one word', headers, body: JSON.stringify(canary('one word')) })
  const wrongBytes = Buffer.concat([Buffer.from(canary('wrong UTF-8')), Buffer.from([0xff, 0xfe])])
  await send({ about: 'wrong UTF-8', headers, body: wrongBytes })
  const twice = `{"model":"${canary('a name given twice')}","model":"model-small"}`
  await send({ about: 'a member twice', headers, body: twice })
  const tooLarge = `{"messages":"${canary('too large a body')}${'x'.repeat(3_000_000)}"}`
  await send({ about: 'too large', headers, body: tooLarge })
  const plainText = { ...headers, 'content-type': 'text/plain' }
  await send({ about: 'not JSON', headers: plainText, body: canary('a text') })
  const gzip = { ...headers, 'content-encoding': 'gzip' }
  await send({ about: 'compressed', headers: gzip, body: canary('a compressed body') })
  const path = `/v1/nowhere?prompt=${canary('a query')}`
  await send({ about: 'an unknown path', path, headers, body: canary('a body to nowhere') })
  await send({ about: 'a wrong method', method: 'GET', path: '/v1/messages', headers })
}

/** Sends a request and resolves with all that came back, also if the reply is incomplete. */
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
    // After 100 ms the request has arrived; the stand-in begins its reply only after 300 ms.
    if (leaveAfter === 0) setTimeout(() => outgoing.destroy(), 100)
  })
}
