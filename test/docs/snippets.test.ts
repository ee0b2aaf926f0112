// Every example of the documentation, run as it is printed, with nothing but a base address and a
// key in its environment, against a whole gateway with the vendor's stand-in behind it. Python that
// imports the vendor's library is parsed and its request replayed: the library is not installed.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { run } from '../compat/program.ts'
import { type Account, createTestGateway, type TestGateway } from '../stages/gateway.ts'
import { type Fence, readPages, root } from './pages.ts'

/** A library is loaded within a second or two, also on a busy machine within this. */
const RUN_MS_MAX = 60_000
const at = { gateway: undefined as TestGateway | undefined }
after(() => at.gateway?.end())

const printed = readPages().flatMap(({ path, fences }) =>
  fences.map((fence) => ({ ...fence, path, kind: kindOf(fence) })),
)
/** A page in another language prints the same examples; each is run once. */
const examples = [...new Map(printed.toReversed().map((one) => [one.text, one])).values()]

test('the documentation has examples for every kind of client', () => {
  const kinds = new Set(examples.map(({ kind }) => kind))
  for (const kind of ['shell', 'variables', 'typescript', 'python']) {
    assert.ok(kinds.has(kind as (typeof examples)[number]['kind']), kind)
  }
})

for (const { kind, text, path, line } of examples) {
  if (kind === 'none') continue
  const skip = absent(kind)
  test(`the example at ${path}:${line} gets an answer without changes`, { skip }, async () => {
    at.gateway ??= await createTestGateway()
    const account = await at.gateway.account(1_000_000)
    at.gateway.vendor.clear()
    const { code, out, err } = await run({
      ...commandOf(kind, text, at.gateway, account),
      cwd: root,
      msMax: RUN_MS_MAX,
    })
    assert.equal(code, 0, err)
    // Examples without a reply ask about the account or its requests.
    const isCharged = !/\/v1\/(?:me"|requests\?|usage\?)/.test(text)
    if (isCharged) assert.match(out, /Stand-in reply|input_tokens|credits: '\d/)
    else if (kind === 'shell') assert.match(out, /"type":"account"|"object":"list"/)
    const { requests } = at.gateway.vendor
    assert.equal(requests.length, isCharged ? 1 : 0, 'requests that reached the upstream')
    const charges = (await at.gateway.statement(account.book)).filter(
      ({ kind: entry }) => entry === 'charge',
    )
    assert.equal(charges.length, isCharged ? 1 : 0, 'charges')
  })
}

function kindOf({ language, text }: Fence) {
  if (language === 'ts') return 'typescript'
  if (language === 'python') return 'python'
  if (language !== 'sh') return 'none'
  const lines = text.trim().split('\n')
  if (lines.every((one) => one.startsWith('export '))) return 'variables'
  return text.startsWith('curl ') ? 'shell' : 'none'
}

function absent(kind: (typeof examples)[number]['kind']): string | false {
  if (kind === 'shell' && !existsSync('/usr/bin/curl')) return 'there is no curl here'
  if (kind === 'python' && !existsSync('/usr/bin/python3')) return 'there is no Python here'
  return false
}

function commandOf(
  kind: (typeof examples)[number]['kind'],
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
  // Variables alone must lead the official library to us; address and key are put in their places.
  const filled = text
    .replaceAll('https://api.example.org', url)
    .replaceAll(/"sk-vendor-[^"]*"/g, `"${key}"`)
  const question = `import Anthropic from '@anthropic-ai/sdk'
    const messages = [{ role: 'user' as const, content: 'Hello' }]
    const model = process.env.ANTHROPIC_MODEL ?? 'model-small'
    const reply = await new Anthropic().messages.create({ model, max_tokens: 64, messages })
    console.log(JSON.stringify(reply))`
  const script = `${filled}\nexec "$0" "$@"`
  const parameters = ['-c', script, process.execPath, ...node(question)]
  return { program: '/bin/sh', parameters, env: { PATH: env.PATH } }
}
