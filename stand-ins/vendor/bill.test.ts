// Tests of what the stand-in bills, as its usage report says it.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startVendor, type Vendor } from './vendor.ts'

let vendor: Vendor
before(async () => {
  vendor = await startVendor({ models: ['m1', 'm2', 'm3', 'm4'] })
})
after(() => vendor.close())

async function ask(model: string, text: string, stream = false): Promise<string> {
  const response = await fetch(`${vendor.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': vendor.keys[0] ?? '', 'anthropic-version': '2023-06-01' },
    body: JSON.stringify({
      ...{ model, max_tokens: 100, stream, messages: [{ role: 'user', content: text }] },
    }),
  })
  return response.text().catch(() => 'broken')
}

async function report(key: string, query = ''): Promise<Response> {
  const from = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
  const to = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)
  const path = '/v1/organizations/usage_report/messages'
  const days = `starting_at=${from}T00:00:00Z&ending_at=${to}T00:00:00Z`
  return fetch(`${vendor.url}${path}?${days}${query}`, { headers: { 'x-api-key': key } })
}

type Page = {
  readonly data: readonly { readonly results: readonly Record<string, unknown>[] }[]
  readonly has_more: boolean
  readonly next_page: string | null
}

async function resultsOf(model: string) {
  const groups = ['model', 'speed'].map((group) => `&group_by[]=${group}`).join('')
  const page = (await (await report(vendor.reportKey, groups)).json()) as Page
  return page.data.flatMap(({ results }) => results).filter((one) => one.model === model)
}

test('bills what it counted, whatever the reply reports', async () => {
  await ask('m1', '[[reply: text 7]]')
  await ask('m1', '[[reply: text 7]] [[fault: usage-output=99 usage-input=9999]]')
  const [row] = await resultsOf('m1')
  assert.equal(row?.output_tokens, 14)
  assert.ok(Number(row?.uncached_input_tokens) < 100)
})

test('bills a stream as far as it was generated, and no error', async () => {
  await ask('m2', '[[reply: text 50]] [[fault: error-after=8]]', true)
  await ask('m2', '[[fault: status=529]]')
  const [row] = await resultsOf('m2')
  // Eight events were sent: message_start, content_block_start, a ping, and five deltas. The error
  // came in place of the sixth, which was generated.
  assert.equal(row?.output_tokens, 6)
})

test('bills passes by their model, uses, and speed', async () => {
  const members = {
    speed: 'fast',
    server_tool_use: { web_search_requests: 2 },
    iterations: [{ type: 'advisor_message', model: 'm4', input_tokens: 11, output_tokens: 3 }],
  }
  await ask('m3', `[[reply: text 7]] [[fault: usage-members=${JSON.stringify(members)}]]`)
  const [own] = await resultsOf('m3')
  assert.deepEqual([own?.speed, own?.server_tool_use], ['fast', { web_search_requests: 2 }])
  const [pass] = await resultsOf('m4')
  assert.deepEqual([pass?.uncached_input_tokens, pass?.output_tokens], [11, 3])
})

test('serves pages of days, to its own credential only', async () => {
  assert.equal((await report(vendor.keys[0] ?? '')).status, 401)
  const first = (await (await report(vendor.reportKey, '&limit=1')).json()) as Page
  assert.deepEqual([first.data.length, first.has_more], [1, true])
  const next = await report(vendor.reportKey, `&limit=1&page=${first.next_page}`)
  const second = (await next.json()) as Page
  assert.deepEqual([second.data.length, second.has_more], [1, false])
})
