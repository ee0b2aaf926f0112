// Every example of the documentation, run as a reader copies it: with the address, the key and the
// model of a whole gateway filled in, with the vendor's stand-in behind it. Examples of both
// languages are the same, and each is run once. Python that imports the vendor's library is parsed
// and its request replayed: the library is not installed.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fillExample } from '../../web/pages/docs/examples/fill.ts'
import { catalogueText } from '../compat/prices.ts'
import { run } from '../compat/program.ts'
import { type Account, createTestGateway, type TestGateway } from '../stages/gateway.ts'
import { customerExamples } from './customer-pages.ts'
import { type Fence, readPages, root } from './pages.ts'
import { askBySettings } from './settings-files.ts'

/** A library is loaded within a second or two, also on a busy machine within this. */
const RUN_MS_MAX = 60_000
const MODEL = 'claude-opus-4-6'
const at = { gateway: undefined as TestGateway | undefined }
after(() => at.gateway?.end())

const forCustomers = customerExamples()
const printed = readPages().flatMap(({ path, fences }) =>
  fences.map((fence) => ({ ...fence, path, kind: kindOf(fence) })),
)
const examples = [...new Map(printed.toReversed().map((one) => [one.text, one])).values()]
/** Examples that ask about the account, its requests or the models. */
const FREE = /\/v1\/(?:me"|models"|requests\?|usage\?|messages\/count_tokens)|models\.list/

test('every example of every page for customers is one that the next tests run', () => {
  assert.ok(forCustomers.length > 60, `${forCustomers.length} examples`)
  const ran = new Set(examples.filter(({ kind }) => kind !== 'none').map(({ text }) => text))
  const missed = forCustomers.filter(({ text }) => !ran.has(text))
  assert.deepEqual(
    missed.map(({ path, line }) => `${path}:${line}`),
    [],
  )
  const kinds = new Set(forCustomers.map(kindOf))
  const all = ['answer', 'python', 'settings', 'shell', 'typescript', 'variables']
  assert.deepEqual([...kinds].toSorted(), all)
})

for (const example of examples) {
  const { kind, path, line } = example
  if (kind === 'none' || kind === 'answer') continue
  const skip = absent(kind)
  test(`the example at ${path}:${line} gets an answer without changes`, { skip }, async () => {
    const gateway = await stage()
    const account = await gateway.account(10_000_000)
    const text = fillExample(example.text, valuesOf(gateway, account))
    assert.doesNotMatch(text, /example\.org|sk-vendor-api03-…/, 'every value is filled in')
    const out =
      kind === 'settings'
        ? await askBySettings(path, text, { url: gateway.url, key: account.key })
        : await runExample(kind, text, gateway, account)
    const isFree = FREE.test(text)
    if (!isFree) assert.match(out, /Stand-in reply|input_tokens|credits: '\d/)
    else if (kind === 'shell') assert.match(out, /"type":"account"|"object":"list"|input_tokens/)
    if (text.includes('x-credit-charged')) assert.match(out, /^[\d.]+ \d+$/m)
    const asked = gateway.vendor.requests.filter(({ url }) => !url.includes('count_tokens'))
    assert.equal(asked.length, isFree ? 0 : 1, 'messages that reached the upstream')
    for (const { body } of asked) assert.ok(String(body).includes(MODEL), 'the model is filled in')
    const charges = (await gateway.statement(account.book)).filter(
      ({ kind: entry }) => entry === 'charge',
    )
    assert.equal(charges.length, isFree ? 0 : 1, 'charges')
  })
}

for (const { kind, path, line, text } of examples) {
  if (kind !== 'answer') continue
  test(`the answer at ${path}:${line} is what the gateway answers`, async () => {
    const gateway = await stage()
    const { key } = await gateway.account(1)
    const response = await fetch(`${gateway.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: MODEL,
        max_tokens: 64,
        messages: [{ role: 'user', content: 'Hello' }],
      }),
    })
    const [head = '', body = ''] = text.split('\n\n')
    const [status = '', ...headers] = head.split('\n')
    assert.equal(status, `HTTP/1.1 ${response.status} ${response.statusText}`)
    for (const [, name = '', value] of headers.map((one) => /^([\w-]+): (.*)$/.exec(one) ?? [])) {
      const own = response.headers.get(name)
      if (name === 'request-id') assert.match(own ?? '', /^req_[0-9a-f]{32}$/)
      else assert.equal(own, value, name)
    }
    const shown = JSON.parse(body)
    const given = (await response.json()) as typeof shown
    assert.deepEqual(Object.keys(given), Object.keys(shown))
    assert.equal(given.error.type, shown.error.type)
    const [start = ''] = shown.error.message.split('…')
    assert.ok(given.error.message.startsWith(start), given.error.message)
  })
}

async function stage(): Promise<TestGateway> {
  at.gateway ??= await createTestGateway({ catalogueText })
  at.gateway.vendor.clear()
  return at.gateway
}

function valuesOf({ url }: TestGateway, { key }: Account) {
  return { apiUrl: url, vendorSlug: 'vendor', key, models: [MODEL] }
}

async function runExample(
  kind: Exclude<Kind, 'none' | 'answer' | 'settings'>,
  text: string,
  gateway: TestGateway,
  account: Account,
): Promise<string> {
  const command = commandOf(kind, text, gateway, account)
  const { code, out, err } = await run({ ...command, cwd: root, msMax: RUN_MS_MAX })
  assert.equal(code, 0, err)
  return out
}

type Kind = 'answer' | 'none' | 'python' | 'settings' | 'shell' | 'typescript' | 'variables'

function kindOf({ language, text }: Fence): Kind {
  if (language === 'ts') return 'typescript'
  if (language === 'python') return 'python'
  if (language === 'http') return 'answer'
  if (language === 'json' || language === 'yaml') return settingsKind(text)
  if (language !== 'sh') return 'none'
  const lines = text.trim().split('\n')
  if (lines.every((one) => one.startsWith('export '))) return 'variables'
  return text.startsWith('curl ') ? 'shell' : 'none'
}

/** Files of settings have our address; other files of the documentation are for operators. */
function settingsKind(text: string): Kind {
  return text.includes('https://api.example.org') ? 'settings' : 'none'
}

function absent(kind: Kind): string | false {
  if (kind === 'shell' && !existsSync('/usr/bin/curl')) return 'there is no curl here'
  if (kind === 'python' && !existsSync('/usr/bin/python3')) return 'there is no Python here'
  return false
}

function commandOf(
  kind: Exclude<Kind, 'none' | 'answer' | 'settings'>,
  text: string,
  { url }: TestGateway,
  { key }: Account,
) {
  const env = { PATH: '/usr/bin:/bin', ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: key }
  const node = (code: string) => ['--input-type=module-typescript', '--eval', code]
  if (kind === 'typescript') return { program: process.execPath, parameters: node(text), env }
  if (kind === 'shell') return { program: '/bin/sh', parameters: ['-c', text], env }
  // Without the official library, it runs as it is.
  if (kind === 'python' && !text.includes('anthropic import')) {
    return { program: '/usr/bin/python3', parameters: ['-c', text], env }
  }
  if (kind === 'python') {
    const replay = join(import.meta.dirname, 'replay.py')
    return { program: '/usr/bin/python3', parameters: [replay, text], env }
  }
  // Variables alone must lead the official library to us.
  const question = `import Anthropic from '@anthropic-ai/sdk'
    const messages = [{ role: 'user' as const, content: 'Hello' }]
    const model = process.env.ANTHROPIC_MODEL ?? '${MODEL}'
    const reply = await new Anthropic().messages.create({ model, max_tokens: 64, messages })
    console.log(JSON.stringify(reply))`
  const script = `${text}\nexec "$0" "$@"`
  const parameters = ['-c', script, process.execPath, ...node(question)]
  return { program: '/bin/sh', parameters, env: { PATH: env.PATH } }
}
