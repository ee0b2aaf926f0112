// Asks through the library that an agent uses, with what the agent's file of settings says. The
// agents themselves are run with the same files by `npm run compat -- agents`.
import assert from 'node:assert/strict'
import { basename } from 'node:path'
import { createAnthropic } from '@ai-sdk/anthropic'
import { Anthropic } from '@anthropic-ai/sdk'
import { generateText } from 'ai'
import { parse } from 'yaml'
import type { Target } from '../compat/clients.ts'

type Call = { readonly baseURL: string; readonly apiKey: string; readonly model: string }

/** The text of the reply to a request as the page's agent makes it. */
export async function askBySettings(page: string, text: string, target: Target): Promise<string> {
  const read =
    readers[`${basename(page, '.md')} ${text.trimStart().startsWith('{') ? 'json' : 'yaml'}`]
  assert.ok(read, `${page}: nobody knows what this file of settings means`)
  const { library, call } = read(parse(text), target)
  if (library === 'official') return askOfficial(call)
  const { text: reply } = await generateText({
    model: createAnthropic({ baseURL: call.baseURL, apiKey: call.apiKey })(call.model),
    maxOutputTokens: 64,
    prompt: 'Hello',
  })
  return reply
}

async function askOfficial({ baseURL, apiKey, model }: Call): Promise<string> {
  const { content } = await new Anthropic({ baseURL, apiKey }).messages.create({
    model,
    max_tokens: 64,
    messages: [{ role: 'user', content: 'Hello' }],
  })
  return JSON.stringify(content)
}

type Read = (
  settings: Settings,
  target: Target,
) => { readonly library: 'official' | 'ai-sdk'; readonly call: Call }

/** Only the fields that the examples have. */
type Settings = {
  readonly env: Readonly<Record<string, string>>
  readonly model: string
  readonly models: readonly { readonly apiBase: string; apiKey: string; model: string }[]
  readonly provider: { readonly anthropic: { options: Omit<Call, 'model'>; models: object } }
  readonly providers: { readonly anthropic: { readonly baseUrl: string } }
}

const readers: Readonly<Record<string, Read>> = {
  'claude-code json': ({ env }) => ({
    library: 'official',
    call: {
      baseURL: env.ANTHROPIC_BASE_URL ?? '',
      apiKey: env.ANTHROPIC_AUTH_TOKEN ?? '',
      model: env.ANTHROPIC_MODEL ?? '',
    },
  }),
  'opencode json': ({ model, provider: { anthropic } }) => {
    const name = model.replace('anthropic/', '')
    assert.ok(name in anthropic.models, 'the chosen model is listed')
    return { library: 'ai-sdk', call: { ...anthropic.options, model: name } }
  },
  // The key is in the environment, as the page says.
  'coding-agents json': ({ providers }, { key }) => ({
    library: 'official',
    call: { baseURL: providers.anthropic.baseUrl, apiKey: key, model: 'claude-opus-4-6' },
  }),
  'coding-agents yaml': ({ models: [first] }) => ({
    library: 'ai-sdk',
    call: {
      baseURL: first?.apiBase ?? '',
      apiKey: first?.apiKey ?? '',
      model: first?.model ?? '',
    },
  }),
}
