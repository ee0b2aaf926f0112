// The real client libraries, each pointed at an address with a key and otherwise as it comes. Three
// majors of the official one stand behind one small shape: tests ask the same of all three.
import { createAnthropic } from '@ai-sdk/anthropic'
import { Anthropic as Sdk1x8 } from '@anthropic-ai/sdk'
import { ChatAnthropic } from '@langchain/anthropic'
import { Anthropic as Sdk0x60 } from 'anthropic-sdk-0-60'
import { Anthropic as Sdk0x137 } from 'anthropic-sdk-0-137'
import { OpenAI } from 'openai'

/** The address to call, and the key. */
export type Target = { readonly url: string; readonly key: string }

export const sdk1x8 = ({ url, key }: Target) => new Sdk1x8({ baseURL: url, apiKey: key })
export const sdk0x137 = ({ url, key }: Target) => new Sdk0x137({ baseURL: url, apiKey: key })
export const sdk0x60 = ({ url, key }: Target) => new Sdk0x60({ baseURL: url, apiKey: key })
/** Its base address must carry the /v1. */
export const aiSdk = ({ url, key }: Target) =>
  createAnthropic({ baseURL: `${url}/v1`, apiKey: key })
export const openAi = ({ url, key }: Target) => new OpenAI({ baseURL: `${url}/v1`, apiKey: key })
export const langChain = (target: Target, model: string, more: { streaming?: boolean } = {}) =>
  new ChatAnthropic({ model, apiKey: target.key, anthropicApiUrl: target.url, ...more })

/** Bytes as they are, as a program without a library sends them. */
export function post(
  { url, key }: Target,
  body: string | Buffer<ArrayBuffer>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(`${url}/v1/messages`, {
    method: 'POST',
    headers: {
      'x-api-key': key,
      'content-type': 'application/json',
      'anthropic-version': '2023-06-01',
      ...headers,
    },
    body,
  })
}

/** What the three majors have in common. */
export type Official = {
  readonly name: string
  create(question: Question): Promise<Message>
  /** The events one by one. */
  events(question: Question): Promise<AsyncIterable<{ readonly type: string }>>
  /** The message that the library puts together from a stream. */
  final(question: Question): Promise<Message>
}

export type Question = {
  readonly model: string
  readonly max_tokens: number
  readonly messages: { role: 'user'; content: string }[]
}

export type Message = {
  readonly id: string
  readonly type: string
  readonly model: string
  readonly content: readonly { readonly type: string; readonly text?: string }[]
  readonly stop_reason: string | null
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number }
  readonly _request_id?: string | null | undefined
}

/** The newest major first. */
export function officials(target: Target): readonly [Official, Official, Official] {
  return [official1x8(target), official0x137(target), official0x60(target)]
}

function official1x8(target: Target): Official {
  const { messages } = sdk1x8(target)
  return {
    name: 'official 1.8.0',
    create: (question) => messages.create(question),
    events: (question) => messages.create({ ...question, stream: true }),
    final: (question) => messages.stream(question).finalMessage(),
  }
}

function official0x137(target: Target): Official {
  const { messages } = sdk0x137(target)
  return {
    name: 'official 0.137.0',
    create: (question) => messages.create(question),
    events: (question) => messages.create({ ...question, stream: true }),
    final: (question) => messages.stream(question).finalMessage(),
  }
}

function official0x60(target: Target): Official {
  const { messages } = sdk0x60(target)
  return {
    name: 'official 0.60.0',
    create: (question) => messages.create(question),
    events: (question) => messages.create({ ...question, stream: true }),
    final: (question) => messages.stream(question).finalMessage(),
  }
}

/** A request with one user message. */
export function ask(content: string, model = 'claude-opus-4-6', maxTokens = 1_000): Question {
  return { model, max_tokens: maxTokens, messages: [{ role: 'user', content }] }
}

/** All text of a message. */
export function textOf({ content }: Message): string {
  return content.map(({ text = '' }) => text).join('')
}
