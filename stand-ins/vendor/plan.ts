// Decides what a reply contains. Reply words set it directly (`thinking 50 text 20`); without them
// the request decides: tools are used when asked for, tool results are answered, and anything else
// gets a short text that depends only on the request.
import { invalid } from './errors.ts'
import { exampleOf } from './example.ts'
import { isObject, type JsonObject } from './json.ts'
import type { MessageRequest } from './request.ts'
import { lastUserText } from './script.ts'
import { numberOf, writeText } from './text.ts'

export type Item =
  | { readonly kind: 'text' | 'unicode' | 'thinking'; readonly tokens: number }
  | { readonly kind: 'say'; readonly text: string }
  | { readonly kind: 'tool'; readonly name: string; readonly input: JsonObject }
  | { readonly kind: 'redacted' | 'citations' | 'server_tool' | 'unknown' }

export type Plan = { readonly items: readonly Item[]; readonly stopReason: string | null }

/** Reads reply words; an unknown word is a 400, so that a typing error in a test is noticed. */
export function readPlan(words: readonly string[]): Plan {
  const items: Item[] = []
  let stopReason: string | null = null
  const left = [...words]
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    if (word === 'text' || word === 'unicode' || word === 'thinking') {
      items.push({ kind: word, tokens: /^\d+$/.test(left[0] ?? '') ? Number(left.shift()) : 20 })
    } else if (word === 'say') {
      items.push({ kind: 'say', text: String(readLiteral(left.shift())) })
    } else if (word === 'tool') {
      const name = left.shift() ?? 'unnamed'
      const input = left[0]?.startsWith('{') ? readLiteral(left.shift()) : {}
      items.push({ kind: 'tool', name, input: isObject(input) ? input : {} })
    } else if (word === 'stop') {
      stopReason = left.shift() ?? null
    } else if (isBareWord(word)) {
      items.push({ kind: word })
    } else {
      throw invalid(`stand-in: unknown reply word "${word}"`)
    }
  }
  return { items, stopReason }
}

function isBareWord(word: string): word is 'redacted' | 'citations' | 'server_tool' | 'unknown' {
  return ['redacted', 'citations', 'server_tool', 'unknown'].includes(word)
}

function readLiteral(word = ''): unknown {
  try {
    return JSON.parse(word)
  } catch (error) {
    throw invalid(`stand-in: not JSON: ${word} (${error instanceof Error ? error.message : ''})`)
  }
}

/** The reply when no words were given. */
export function choosePlan(request: MessageRequest): Plan {
  const question = lastUserText(request.turns)
  const tool = toolToUse(request, question)
  const thinking: Item[] = request.isThinking ? [{ kind: 'thinking', tokens: 20 }] : []
  if (tool !== null) {
    const input = exampleOf(tool.input_schema)
    const use: Item = {
      kind: 'tool',
      name: String(tool.name),
      input: isObject(input) ? input : {},
    }
    return { items: [...thinking, use], stopReason: null }
  }
  const text =
    request.schema === null
      ? defaultText(request.model.id, question)
      : JSON.stringify(exampleOf(request.schema))
  return { items: [...thinking, { kind: 'say', text }], stopReason: null }
}

function defaultText(model: string, question: string): string {
  const seed = numberOf(`${model} ${question}`)
  return `Stand-in reply ${seed.toString(16)}: ${writeText(seed, 8 + (seed % 16))}`
}

function toolToUse(request: MessageRequest, question: string): JsonObject | null {
  const tools = request.tools.filter((tool) => isObject(tool.input_schema))
  const choice = request.toolChoice?.type
  if (choice === 'none') return null
  if (choice === 'tool') return tools.find((t) => t.name === request.toolChoice?.name) ?? null
  const last = request.turns.at(-1)
  // The last message has a tool result: answer it, or the client's loop would never end.
  if (last?.role !== 'user' || last.content.some((block) => block.type === 'tool_result')) {
    return null
  }
  // Agents wrap their own remarks, full of tool names, around the person's text.
  const asked = question.replaceAll(/<system-reminder>[\s\S]*?<\/system-reminder>/g, '')
  const named = tools.find((tool) => wordBoundary(String(tool.name)).test(asked))
  if (named !== undefined) return named
  return choice === 'any' || /\btool\b/i.test(asked) ? (tools[0] ?? null) : null
}

function wordBoundary(name: string): RegExp {
  return new RegExp(`(?<![\\w-])${RegExp.escape(name)}(?![\\w-])`)
}
