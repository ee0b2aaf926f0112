// Reads the body of a message request as the vendor does: refuses missing members and wrong types
// in its wording, and accepts unknown top-level members (the real list is open and grows). The
// rules of the conversation itself are in conversation.ts.
import { readTurns, type Turn } from './conversation.ts'
import { invalid, VendorError } from './errors.ts'
import { isObject, type JsonObject } from './json.ts'
import type { Model } from './models.ts'
import type { ApiVersion } from './version.ts'

export type MessageRequest = {
  readonly model: Model
  /** Zero for a token count, which has no such member. */
  readonly maxTokens: number
  readonly isStream: boolean
  readonly system: readonly JsonObject[]
  readonly turns: readonly Turn[]
  readonly tools: readonly JsonObject[]
  readonly toolChoice: JsonObject | null
  readonly stopSequences: readonly string[]
  readonly isThinking: boolean
  /** The schema the reply has to follow, when one was asked for. */
  readonly schema: JsonObject | null
  /** `cache_control` at the top level: a marker on the last block. */
  readonly cacheControl: JsonObject | null
}

type Context = {
  readonly version: ApiVersion
  readonly findModel: (id: string) => Model | undefined
  readonly isCount: boolean
}

// The vendor's limit on prompt-cache markers per request.
const cacheMarkersMax = 4

/** May throw a 400 or, for an unknown model, a 404. */
export function readRequest(body: unknown, context: Context): MessageRequest {
  if (!isObject(body)) throw invalid('Input should be a valid dictionary')
  const modelId = readString(body, 'model')
  const maxTokens = context.isCount ? 0 : readMaxTokens(body)
  const turns = readTurns(body.messages, context.version)
  const system = readSystem(body.system)
  const tools = readTools(body.tools)
  const stopSequences = readStopSequences(body.stop_sequences)
  const isThinking = readThinking(body.thinking, maxTokens, context.isCount)
  if (body.stream !== undefined && typeof body.stream !== 'boolean') {
    throw invalid('stream: Input should be a valid boolean')
  }
  checkMetadata(body.metadata)
  checkThread(body.thread)
  checkMarkers(body, turns, system, tools)
  const model = context.findModel(modelId)
  if (model === undefined) throw new VendorError(404, `model: ${modelId}`)
  checkSampling(body, model, context.version)
  if (maxTokens > model.maxTokens) {
    throw invalid(
      `max_tokens: ${maxTokens} > ${model.maxTokens}, which is the maximum allowed number of ` +
        `output tokens for ${model.id}`,
    )
  }
  if (context.isCount) checkCountable(tools, turns)
  return {
    model,
    maxTokens,
    isStream: body.stream === true,
    system,
    turns,
    tools,
    toolChoice: readToolChoice(body.tool_choice, tools),
    stopSequences,
    isThinking,
    schema: readSchema(body),
    cacheControl: isObject(body.cache_control) ? body.cache_control : null,
  }
}

function readString(body: JsonObject, name: string): string {
  const value = body[name]
  if (value === undefined) throw invalid(`${name}: Field required`)
  if (typeof value !== 'string') throw invalid(`${name}: Input should be a valid string`)
  if (value === '') throw invalid(`${name}: String should have at least 1 character`)
  return value
}

function readMaxTokens(body: JsonObject): number {
  const value = body.max_tokens
  if (value === undefined) throw invalid('max_tokens: Field required')
  if (typeof value !== 'number' || !Number.isInteger(value)) {
    throw invalid('max_tokens: Input should be a valid integer')
  }
  if (value < 0) throw invalid('max_tokens: Input should be greater than or equal to 0')
  return value
}

function readSystem(system: unknown): JsonObject[] {
  if (system === undefined) return []
  if (typeof system === 'string') return [{ type: 'text', text: system }]
  if (!Array.isArray(system)) throw invalid('system: Input should be a valid list')
  return system.map((block: unknown, at) => {
    if (!isObject(block) || block.type !== 'text') {
      throw invalid(`system.${at}.type: Input should be 'text'`)
    }
    if (typeof block.text !== 'string') throw invalid(`system.${at}.text: Field required`)
    if (block.text === '') throw invalid('system: text content blocks must be non-empty')
    return block
  })
}

function readTools(tools: unknown): JsonObject[] {
  if (tools === undefined) return []
  if (!Array.isArray(tools)) throw invalid('tools: Input should be a valid list')
  const names = new Set<unknown>()
  return tools.map((tool: unknown, at) => {
    if (!isObject(tool)) throw invalid(`tools.${at}: Input should be a valid dictionary`)
    if (tool.type === undefined || tool.type === null || tool.type === 'custom') {
      if (typeof tool.name !== 'string') throw invalid(`tools.${at}.custom.name: Field required`)
      if (!isObject(tool.input_schema)) {
        throw invalid(`tools.${at}.custom.input_schema: Field required`)
      }
    }
    for (const name of ['max_uses', 'max_content_tokens']) {
      const limit = tool[name] ?? 1
      if (typeof limit !== 'number' || !Number.isInteger(limit)) {
        throw invalid(`tools.${at}.${name}: Input should be a valid integer`)
      }
      if (limit < 1) throw invalid(`tools.${at}.${name}: Input should be greater than 0`)
    }
    if (tool.name !== undefined && names.has(tool.name)) {
      throw invalid('tools: Tool names must be unique.')
    }
    names.add(tool.name)
    return tool
  })
}

function readToolChoice(choice: unknown, tools: readonly JsonObject[]): JsonObject | null {
  if (choice === undefined || choice === null) return null
  if (!isObject(choice)) throw invalid('tool_choice: Input should be a valid dictionary')
  if (!['auto', 'any', 'tool', 'none'].includes(String(choice.type))) {
    throw invalid(
      `tool_choice: Input tag '${choice.type}' found using 'type' does not match any of the ` +
        "expected tags: 'auto', 'any', 'tool', 'none'",
    )
  }
  if (choice.type === 'tool' && !tools.some((tool) => tool.name === choice.name)) {
    throw invalid(`Tool '${choice.name}' not found in provided tools`)
  }
  return choice
}

function readStopSequences(sequences: unknown): string[] {
  if (sequences === undefined || sequences === null) return []
  if (!Array.isArray(sequences)) throw invalid('stop_sequences: Input should be a valid list')
  return sequences.map((sequence: unknown, at) => {
    if (typeof sequence !== 'string') {
      throw invalid(`stop_sequences.${at}: Input should be a valid string`)
    }
    if (sequence.trim() === '') {
      throw invalid('stop_sequences: each stop sequence must contain non-whitespace')
    }
    return sequence
  })
}

function readThinking(thinking: unknown, maxTokens: number, isCount: boolean): boolean {
  if (thinking === undefined || thinking === null) return false
  if (!isObject(thinking)) throw invalid('thinking: Input should be a valid dictionary')
  if (thinking.type !== 'enabled') return thinking.type === 'adaptive'
  const budget = thinking.budget_tokens
  if (budget === undefined) throw invalid('thinking.enabled.budget_tokens: Field required')
  if (typeof budget !== 'number' || budget < 1024) {
    throw invalid('thinking.enabled.budget_tokens: Input should be greater than or equal to 1024')
  }
  if (!isCount && maxTokens <= budget) {
    throw invalid('`max_tokens` must be greater than `thinking.budget_tokens`.')
  }
  return true
}

function readSchema(body: JsonObject): JsonObject | null {
  const config = isObject(body.output_config) ? body.output_config : {}
  const format = isObject(config.format) ? config.format : body.output_format
  return isObject(format) && isObject(format.schema) ? format.schema : null
}

function checkMetadata(metadata: unknown): void {
  const userId = isObject(metadata) ? (metadata.user_id ?? '') : ''
  if (typeof userId !== 'string') {
    throw invalid('metadata.user_id: Input should be a valid string')
  }
}

// Server-held threads are not imitated. This typed code makes the official SDK send the whole
// history instead, so its tool runner works.
function checkThread(thread: unknown): void {
  if (thread === undefined || thread === null) return
  throw new VendorError(400, 'thread: This request does not support threads', {
    code: 'thread_unsupported_request',
  })
}

function checkMarkers(body: JsonObject, ...lists: ReadonlyArray<readonly JsonObject[]>): void {
  const blocks = lists
    .flat()
    .flatMap((entry) =>
      Array.isArray(entry.content) ? [entry, ...entry.content.filter(isObject)] : [entry],
    )
  const found = [body, ...blocks].filter((block) => isObject(block.cache_control)).length
  if (found > cacheMarkersMax) {
    throw invalid(
      `A maximum of ${cacheMarkersMax} blocks with cache_control may be provided. Found ${found}.`,
    )
  }
}

const samplingRanges = { temperature: [0, 1], top_p: [0, 1], top_k: [0, 500] } as const

// Version 2026-10-21 refuses the three members, whatever their value; newer models accept only the
// default temperature under the old version too.
function checkSampling(body: JsonObject, model: Model, version: ApiVersion): void {
  for (const [name, [low, high]] of Object.entries(samplingRanges)) {
    const value = body[name]
    if (value === undefined) continue
    if (version === '2026-10-21') throw invalid(`${name}: Extra inputs are not permitted`)
    if (value === null) continue
    if (typeof value !== 'number') throw invalid(`${name}: Input should be a valid number`)
    if (value < low || value > high) throw invalid(`${name}: range: ${low}..${high}`)
    if (model.isSamplingFixed && !(name === 'temperature' && value === 1)) {
      throw invalid(`\`${name}\` is deprecated for this model.`)
    }
  }
}

// The count endpoint refuses content that it would have to fetch or run.
function checkCountable(tools: readonly JsonObject[], turns: readonly Turn[]): void {
  const serverTool = tools.findIndex((tool) => /^(web_|code_ex|tool_search)/.test(`${tool.type}`))
  if (serverTool >= 0) {
    throw invalid(
      `tools.${serverTool}: Server tools are not supported by the count_tokens endpoint`,
    )
  }
  for (const [at, turn] of turns.entries()) {
    for (const [place, block] of turn.content.entries()) {
      const source = isObject(block.source) ? block.source.type : null
      if (source === 'url' || source === 'file') {
        throw invalid(
          `messages.${at}.content.${place}.${block.type}.source: ` +
            `Sources of type '${source}' are not supported by the count_tokens endpoint`,
        )
      }
    }
  }
}
