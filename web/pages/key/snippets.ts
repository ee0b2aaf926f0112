// Ready-to-paste examples for clients of the Messages API: only the base URL and the key differ
// from the official service. test/compat/examples.test.ts runs them.

export type Snippet = {
  readonly id:
    | 'curl'
    | 'python'
    | 'typescript'
    | 'aiSdk'
    | 'langchain'
    | 'claudeCode'
    | 'opencode'
    | 'agents'
  readonly text: (fill: Fill) => string
}

export type Fill = {
  /** Without a slash at the end and without /v1. */
  readonly base: string
  readonly key: string
  readonly model: string
}

export const snippets: readonly Snippet[] = [
  {
    id: 'curl',
    text: ({ base, key, model }) => `curl ${base}/v1/messages \\
  -H "x-api-key: ${key}" \\
  -H "content-type: application/json" \\
  -d '{
    "model": "${model}",
    "max_tokens": 256,
    "messages": [{"role": "user", "content": "Hello"}]
  }'`,
  },
  {
    id: 'claudeCode',
    text: ({ base, key, model }) => `export ANTHROPIC_BASE_URL="${base}"
export ANTHROPIC_AUTH_TOKEN="${key}"
export ANTHROPIC_API_KEY=""
export ANTHROPIC_MODEL="${model}"
export ANTHROPIC_DEFAULT_HAIKU_MODEL="${model}"
claude`,
  },
  {
    id: 'python',
    text: ({ base, key, model }) => `from anthropic import Anthropic

client = Anthropic(
    base_url="${base}",
    api_key="${key}",
)
message = client.messages.create(
    model="${model}",
    max_tokens=256,
    messages=[{"role": "user", "content": "Hello"}],
)
print(message.content[0].text)`,
  },
  {
    id: 'typescript',
    text: ({ base, key, model }) => `import Anthropic from '@anthropic-ai/sdk'

const client = new Anthropic({
  baseURL: '${base}',
  apiKey: '${key}',
})
const message = await client.messages.create({
  model: '${model}',
  max_tokens: 256,
  messages: [{ role: 'user', content: 'Hello' }],
})
console.log(message.content)`,
  },
  {
    id: 'aiSdk',
    text: ({ base, key, model }) => `import { createAnthropic } from '@ai-sdk/anthropic'
import { generateText } from 'ai'

const provider = createAnthropic({
  baseURL: '${base}/v1',
  apiKey: '${key}',
})
const { text } = await generateText({
  model: provider('${model}'),
  prompt: 'Hello',
})
console.log(text)`,
  },
  {
    id: 'langchain',
    text: ({ base, key, model }) => `import { ChatAnthropic } from '@langchain/anthropic'

const chat = new ChatAnthropic({
  anthropicApiUrl: '${base}',
  apiKey: '${key}',
  model: '${model}',
  maxTokens: 256,
})
const message = await chat.invoke('Hello')
console.log(message.content)`,
  },
  {
    id: 'opencode',
    text: ({ base, key, model }) => `{
  "$schema": "https://opencode.ai/config.json",
  "model": "anthropic/${model}",
  "provider": {
    "anthropic": {
      "options": { "baseURL": "${base}/v1", "apiKey": "${key}" },
      "models": { "${model}": {} }
    }
  }
}`,
  },
  {
    id: 'agents',
    text: ({ base, key, model }) => `export ANTHROPIC_BASE_URL="${base}"
export ANTHROPIC_API_KEY="${key}"
export ANTHROPIC_MODEL="${model}"`,
  },
]

/** The lines of a program's .env file. */
export function envFile({ base, key }: Pick<Fill, 'base' | 'key'>): string {
  return `ANTHROPIC_BASE_URL=${base}\nANTHROPIC_API_KEY=${key}\n`
}
