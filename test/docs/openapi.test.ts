// The description that programs read (docs/openapi.json): it is well-formed, it has every route
// and no other, and real answers of a real gateway have exactly the members it describes.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { refusalAnswers } from '../../src/gateway/answers.ts'
import { routes } from '../../src/gateway/endpoints/endpoints.ts'
import { MODEL_LENGTH_MAX, STOP_SEQUENCES_MAX, TEMPERATURE_MAX } from '../../src/wire/draft.ts'
import { errorStatuses } from '../../src/wire/errors.ts'
import { type Account, createTestGateway, type TestGateway } from '../stages/gateway.ts'
import { catalogueWithPricedModel, PRICED_MODEL } from '../support/priced-model.ts'
import { complaintsOf, resolve, type Schema } from './schema-check.ts'

type Operation = {
  readonly operationId: string
  readonly security?: readonly Record<string, unknown>[]
  readonly parameters?: readonly Schema[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { schema: Schema }>> }
  readonly responses: Readonly<Record<string, Schema>>
}
type Response = {
  readonly description: string
  readonly headers?: Readonly<Record<string, Schema>>
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>
}
type Document = Schema & {
  readonly openapi: string
  readonly info: Schema
  readonly security: readonly Record<string, unknown>[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: Readonly<Record<string, Readonly<Record<string, Schema>>>>
}

const file = readFileSync(join(import.meta.dirname, '../../docs/openapi.json'), 'utf8')
const document = JSON.parse(file) as Document
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
)

const place: { gateway?: TestGateway; account?: Account } = {}
before(async () => {
  place.gateway = await createTestGateway({ catalogueText: await catalogueWithPricedModel() })
  place.account = await place.gateway.account(10_000_000)
})
after(() => place.gateway?.end())

/** Sends, and compares status, headers and body with what the operation describes. */
async function ask(
  method: string,
  path: string,
  body?: unknown,
  sent: Record<string, string> = {},
) {
  const { url } = place.gateway as TestGateway
  const headers = { 'x-api-key': place.account?.key ?? '', 'content-type': 'application/json' }
  const response = await fetch(url + path, {
    method,
    headers: { ...headers, ...sent },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const bare = path.split('?')[0] ?? ''
  const template = bare.replace(/^(\/v1\/(?:models|requests))\/.+$/, '$1/{id}')
  const known = document.paths[template]
  const operation = known?.[method.toLowerCase()]
  assert.ok(operation, `${method} ${bare} is described`)
  const text = await response.text()
  const described = at<Response>(operation.responses[String(response.status)])
  assert.ok(described, `${method} ${path} ${response.status} is described: ${text}`)
  for (const [name, value] of response.headers) {
    const header = described.headers?.[name]
    if (header === undefined) assert.ok(!/^x-|^request-id$/.test(name), `${name} is described`)
    else check(value, at<{ schema: Schema }>(header)?.schema ?? {})
  }
  assert.ok(response.headers.has('request-id'))
  const type = response.headers.get('content-type')?.split(';')[0] ?? ''
  if (text === '') assert.equal(described.content, undefined)
  else {
    const schema = described.content?.[type]?.schema
    assert.ok(schema, `${type} is described`)
    if (type === 'application/json') check(JSON.parse(text), schema)
  }
  return { status: response.status, text, type, headers: response.headers }
}

function check(value: unknown, schema: Schema): void {
  assert.deepEqual(complaintsOf(value, schema, document), [])
}

/** The object itself, or the object that its reference names. */
function at<T>(thing: Schema | undefined): T | undefined {
  const ref = thing?.$ref
  return (typeof ref === 'string' ? resolve(ref, document) : thing) as T | undefined
}

test('every route is described, and everything described is a route', () => {
  const described = operations.map(({ path, method }) => {
    return `${method.toUpperCase()} ${path.replace(/^\/v1(?=\/)/, '')}`
  })
  const served = routes.map(({ method, path }) => `${method} ${path}`)
  assert.deepEqual(described.toSorted(), served.toSorted())
})

test('the document is well-formed OpenAPI 3.1', () => {
  assert.match(document.openapi, /^3\.1\.\d+$/)
  assert.ok(document.info.title && document.info.version)
  const ids = operations.map(({ operation }) => operation.operationId)
  assert.equal(new Set(ids).size, ids.length, 'operation ids are unique')
  for (const { path, operation } of operations) {
    const named = [...path.matchAll(/\{(\w+)\}/g)].map((one) => one[1])
    const parameters = (operation.parameters ?? []).map((one) => at<Schema>(one))
    const inPath = parameters.filter((one) => one?.in === 'path').map((one) => one?.name)
    assert.deepEqual(inPath, named, `the names in ${path} are parameters`)
    for (const [status, response] of Object.entries(operation.responses)) {
      assert.match(status, /^[1-5]\d\d$/)
      assert.ok(at<Response>(response)?.description, `${path} ${status} says what it is`)
    }
    for (const one of operation.security ?? document.security) {
      for (const name of Object.keys(one)) assert.ok(document.components.securitySchemes?.[name])
    }
  }
})

test('every reference resolves, and every component is used', () => {
  const refs = [...file.matchAll(/"\$ref": "([^"]+)"/g)].map((one) => one[1] ?? '')
  for (const ref of refs) assert.doesNotThrow(() => resolve(ref, document))
  for (const [kind, things] of Object.entries(document.components)) {
    if (kind === 'securitySchemes') continue
    const unused = Object.keys(things).filter((n) => !refs.includes(`#/components/${kind}/${n}`))
    assert.deepEqual(unused, [], kind)
  }
})

test('a schema describes every member that it requires', () => {
  const walk = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    const { required, properties } = node as Schema
    if (Array.isArray(required)) {
      for (const name of required) assert.ok(Object.hasOwn(properties ?? {}, name), String(name))
    }
    Object.values(node).forEach(walk)
  }
  walk(document.components.schemas)
})

test('limits, error types and statuses are those of the code', () => {
  const schemas = document.components.schemas as Record<
    string,
    { properties: Record<string, Schema> }
  >
  const fields = schemas.MessageRequest?.properties ?? {}
  assert.equal(fields.stop_sequences?.maxItems, STOP_SEQUENCES_MAX)
  assert.equal(fields.temperature?.maximum, TEMPERATURE_MAX)
  assert.equal(fields.model?.maxLength, MODEL_LENGTH_MAX)
  const error = schemas.Error?.properties.error as { properties: Record<string, Schema> }
  const types = (error.properties.type?.examples ?? []) as string[]
  assert.deepEqual(types.toSorted(), Object.keys(errorStatuses).toSorted())
  const described = Object.keys(document.paths['/v1/messages']?.post?.responses ?? {})
  for (const { status } of Object.values(refusalAnswers)) {
    assert.ok(described.includes(String(status)), `${status} is described`)
  }
})

const question = {
  model: 'model-small',
  max_tokens: 50,
  messages: [
    { role: 'user', content: 'Hello [[reply: thinking 5 text 5 tool weather {"in":"Paris"}]]' },
  ],
}

test('a plain reply has the members described, and says what it cost', async () => {
  check(question, resolve('#/components/schemas/MessageRequest', document))
  const { status, headers } = await ask('POST', '/v1/messages', question)
  assert.equal(status, 200)
  assert.ok(headers.has('x-credit-charged') && headers.has('x-credit-balance'))
})

test('a stream has the media type described', async () => {
  const { status, type } = await ask('POST', '/v1/messages', { ...question, stream: true })
  assert.deepEqual([status, type], [200, 'text/event-stream'])
})

test('a count has the members described', async () => {
  const { max_tokens: _, ...counted } = question
  assert.equal((await ask('POST', '/v1/messages/count_tokens', counted)).status, 200)
})

test('the account and the models have the members described', async () => {
  for (const path of ['/v1/me', '/v1/models', '/v1/models?limit=1', '/v1/models/model-small']) {
    assert.equal((await ask('GET', path)).status, 200, path)
  }
})

test('requests and usage have the members described', async () => {
  const sent = await ask('POST', '/v1/messages', question)
  const id = sent.headers.get('request-id')
  const groups = ['model', 'ending', 'session', 'label'].map((name) => `/v1/usage?group=${name}`)
  for (const path of ['/v1/requests', `/v1/requests/${id}`, '/v1/usage?step=month', ...groups]) {
    assert.equal((await ask('GET', path)).status, 200, path)
  }
  assert.equal((await ask('GET', '/v1/requests/req_0')).status, 404)
  assert.equal((await ask('GET', '/v1/usage?step=year')).status, 400)
})

test('a model has its tiers, multipliers and tools in its prices, and one line', async () => {
  const plain = JSON.parse((await ask('GET', '/v1/models/model-small')).text)
  const prices = { input: '1', output: '5', cache_read: '0.1' }
  const writes = { cache_write_5m: '1.25', cache_write_1h: '2' }
  assert.deepEqual(plain.pricing, { unit: 'credit', ...prices, ...writes })
  // 10,000,000 credits at 5,950 for a turn, less what the tests above have spent.
  assert.equal(plain.description, '1 in · 5 out · about 1,600 turns left')
  const priced = JSON.parse((await ask('GET', `/v1/models/${PRICED_MODEL}`)).text)
  assert.equal(priced.display_name, 'Versatile')
  assert.deepEqual(priced.pricing, {
    ...{ unit: 'credit', input: '0.6', output: '3', cache_read: '0.06' },
    ...{ cache_write_5m: '0.75', cache_write_1h: '1.2' },
    tiers: [
      {
        ...{ above: 100_000, input: '1.2', output: '4.5', cache_read: '0.12' },
        ...{ cache_write_5m: '1.5', cache_write_1h: '2.4' },
      },
    ],
    multipliers: {
      ...{ speed: { fast: '2' }, inference_geo: { us: '1.1' }, service_tier: { priority: '1.5' } },
    },
    per_use: { web_search: '2500', code_execution: '400' },
  })
  const prompts = '0.6 in · 3 out · above 100,000: 1.2 in · 4.5 out'
  assert.equal(priced.description, `${prompts} · about 2,800 turns left`)
})

test('models without a key have their prices; with a wrong one, the answer is a 401', async () => {
  const described = async (key: string) => {
    const { status, text } = await ask('GET', '/v1/models/model-small', undefined, {
      'x-api-key': key,
    })
    return [status, JSON.parse(text).description]
  }
  assert.deepEqual(await described(''), [200, '1 in · 5 out'])
  assert.deepEqual(await described('wrong'), [401, undefined])
  const poor = await (place.gateway as TestGateway).account(5_949)
  assert.deepEqual(await described(poor.key), [200, '1 in · 5 out · less than one turn left'])
  const rich = await (place.gateway as TestGateway).account(5_950)
  assert.deepEqual(await described(rich.key), [200, '1 in · 5 out · about 1 turn left'])
  const listed = await ask('GET', '/v1/models', undefined, { 'x-api-key': '' })
  assert.equal(listed.status, 200)
})

test('errors of every origin have the members described', async () => {
  const poor = await (place.gateway as TestGateway).account(0)
  const upstream = { ...question, messages: [{ role: 'user', content: '[[fault: status=429]]' }] }
  const answers = [
    await ask('POST', '/v1/messages', { ...question, model: 'nobody' }),
    await ask('POST', '/v1/messages', { ...question, thread: { id: 'x' } }),
    await ask('POST', '/v1/messages', question, { 'x-api-key': 'wrong' }),
    await ask('POST', '/v1/messages', question, { 'x-api-key': poor.key }),
    await ask('POST', '/v1/messages', question, { 'content-type': 'text/plain' }),
    await ask('POST', '/v1/messages', upstream),
    await ask('GET', '/v1/models/nobody'),
  ]
  const statuses = answers.map((one) => one.status)
  assert.deepEqual(statuses, [404, 400, 401, 402, 415, 529, 404])
})

test('the gateway answers without a key with its own description', async () => {
  const { text } = await ask('GET', '/openapi.json', undefined, { 'x-api-key': '' })
  assert.deepEqual(JSON.parse(text), document)
  assert.equal((await ask('GET', '/api/hello', undefined, { 'x-api-key': '' })).status, 200)
})

test('reports a member that is undescribed, missing or of another type', () => {
  const schema = resolve('#/components/schemas/Error', document)
  const sound = { type: 'error', error: { type: 'api_error', message: 'x' }, request_id: 'req_1' }
  assert.deepEqual(complaintsOf(sound, schema, document), [])
  const faults = [
    { ...sound, more: 1 },
    { type: 'error', error: sound.error },
    { ...sound, error: { type: 1, message: 'x' } },
    { ...sound, type: 'message' },
  ]
  for (const one of faults) assert.equal(complaintsOf(one, schema, document).length, 1)
})
