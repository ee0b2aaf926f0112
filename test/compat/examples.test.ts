// The examples that the cabinet shows with an owner's key, run exactly as they are copied: an
// example that does not work is the first thing a customer sees of us.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, beforeEach, test } from 'node:test'
import { envFile, snippets } from '../../web/pages/key/snippets.ts'
import { run } from './program.ts'
import { createStage, jsonOf } from './stage.ts'

const root = join(import.meta.dirname, '../..')
const MODEL = 'claude-opus-4-6'
/** A library is loaded within a second or two, also on a busy machine within this. */
const RUN_MS_MAX = 60_000

const stage = await createStage()
after(() => stage.end())
beforeEach(() => stage.clear())

const byNode = (text: string) => ({
  program: process.execPath,
  parameters: ['--input-type=module', '--eval', text],
})
const byShell = (text: string) => ({ program: '/bin/sh', parameters: ['-c', text] })

for (const [id, command, skip] of [
  ['typescript', byNode, false],
  ['aiSdk', byNode, false],
  ['langchain', byNode, false],
  ['curl', byShell, !existsSync('/usr/bin/curl') && 'there is no curl here'],
] as const) {
  test(`the example for ${id} gets a reply as it stands`, { skip }, async () => {
    const account = await stage.account(1_000_000)
    const text = exampleOf(id, account.key)
    const { code, out, err } = await run({
      ...command(text),
      cwd: root,
      env: { PATH: '/usr/bin:/bin' },
      msMax: RUN_MS_MAX,
    })
    assert.equal(code, 0, err)
    assert.match(out, /Stand-in reply/)
    assert.equal(jsonOf(stage.upstream()).model, MODEL)
    await stage.assertCharged(account)
  })
}

test('variables alone lead the official library to us', async () => {
  const account = await stage.account(1_000_000)
  for (const text of [exampleOf('agents', account.key), envFileOf(account.key)]) {
    stage.clear()
    const { code, err } = await run({
      ...byNode(`import Anthropic from '@anthropic-ai/sdk'
        await new Anthropic().messages.create({ model: '${MODEL}', max_tokens: 20,
          messages: [{ role: 'user', content: 'Hello' }] })`),
      cwd: root,
      env: variablesOf(text),
      msMax: RUN_MS_MAX,
    })
    assert.equal(code, 0, err)
    assert.equal(jsonOf(stage.upstream()).model, MODEL)
  }
})

test('the example that is a file of settings is valid JSON with our address in it', () => {
  const settings = JSON.parse(exampleOf('opencode', 'the-key'))
  assert.deepEqual(settings.provider.anthropic.options, {
    baseURL: `${stage.url}/v1`,
    apiKey: 'the-key',
  })
})

function exampleOf(id: (typeof snippets)[number]['id'], key: string): string {
  const snippet = snippets.find((one) => one.id === id)
  assert.ok(snippet, `there is an example for ${id}`)
  return snippet.text({ base: stage.url, key, model: MODEL })
}

function envFileOf(key: string): string {
  return envFile({ base: stage.url, key })
}

/** What a shell, or a reader of .env files, makes of lines such as `export NAME="value"`. */
function variablesOf(text: string): Record<string, string> {
  const lines = text.matchAll(/^(?:export )?(?<name>\w+)="?(?<value>[^"\n]*)"?$/gm)
  return Object.fromEntries(
    [...lines].map(({ groups }) => [groups?.name ?? '', groups?.value ?? '']),
  )
}
