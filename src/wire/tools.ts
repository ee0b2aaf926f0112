// Reads the tool definitions of a request: how many there are, which of them the vendor defines or
// runs, and where the limits of a server tool stand, so that the gateway can lower them.

import {
  type Cursor,
  isNull,
  isNumber,
  isObject,
  isString,
  nextItem,
  nextMember,
  openArray,
  openObject,
  skipString,
  skipValue,
  stringValue,
} from './json.ts'
import { match, names } from './names.ts'
import {
  type ByteRange,
  DuplicateMember,
  type InputShape,
  noteOther,
  noteUnbounded,
  readCacheControl,
  type ToolNumber,
  type UnboundedFeature,
} from './shape.ts'

const toolNames = names('type', 'cache_control', 'model', 'max_uses', 'max_content_tokens')

// The vendor has a dozen kinds and wants unique names. Without a limit, 32 MiB of server tools
// would make a list of a hundred megabytes.
const SERVER_TOOLS_MAX = 64

/** Reads the array of tool definitions; the cursor stands at it. */
export function readTools(cursor: Cursor, shape: InputShape): void {
  for (let more = openArray(cursor); more; more = nextItem(cursor)) readDefinition(cursor, shape)
}

/** One definition: of the array, or of a `tool_addition` block in the middle of a conversation. */
export function readDefinition(cursor: Cursor, shape: InputShape): void {
  shape.tools += 1
  if (isObject(cursor)) readTool(cursor, shape)
  else skipValue(cursor)
}

type Found = { type: string | undefined; max_uses?: Limit; max_content_tokens?: Limit }
type Limit = { readonly value: number | null | undefined; readonly at: ByteRange }

function readTool(cursor: Cursor, shape: InputShape): void {
  const found: Found = { type: undefined }
  let hasType = false
  for (let more = openObject(cursor); more; more = nextMember(cursor)) {
    const name = match(cursor, toolNames)
    if (name === 'type') {
      if (hasType) throw new DuplicateMember('tools.type')
      hasType = true
      if (isString(cursor)) {
        skipString(cursor)
        found.type = stringValue(cursor)
      } else skipValue(cursor)
    } else if (name === 'cache_control') readCacheControl(cursor, shape)
    else if (name === 'max_uses' || name === 'max_content_tokens') {
      if (found[name] !== undefined) throw new DuplicateMember(`tools.${name}`)
      found[name] = readLimit(cursor)
    } else {
      const isModel = name === 'model' && isString(cursor)
      skipValue(cursor)
      if (isModel) noteOther(shape.otherModels, stringValue(cursor))
    }
  }
  if (found.type === undefined) return
  const feature = countTool(shape, found.type)
  if (feature !== undefined) noteServerTool(shape, feature, found, cursor.at - 1)
}

/** `end` is the offset of the brace that closes the definition. */
function noteServerTool(
  shape: InputShape,
  feature: UnboundedFeature,
  found: Found,
  end: number,
): void {
  if (shape.serverTools.length === SERVER_TOOLS_MAX) {
    const sentence = `at most ${SERVER_TOOLS_MAX} server tools are allowed`
    shape.toolProblem ??= { path: 'tools', sentence }
    return
  }
  for (const name of ['max_uses', 'max_content_tokens'] as const) {
    if (found[name] === undefined || found[name].value !== undefined) continue
    const path = `tools.${shape.tools - 1}.${name}`
    shape.toolProblem ??= { path, sentence: 'Input should be a valid integer' }
  }
  shape.serverTools.push({
    feature,
    maxUses: numberOf(found.max_uses, end),
    maxContentTokens: numberOf(found.max_content_tokens, end),
  })
}

/** The value is null for null and undefined for anything else that is no whole number. */
function readLimit(cursor: Cursor): Limit {
  const isNothing = isNull(cursor)
  const isGiven = isNumber(cursor)
  const start = cursor.at
  skipValue(cursor)
  const at = { start, end: cursor.at }
  if (isNothing) return { value: null, at }
  if (!isGiven || at.end - at.start > LIMIT_BYTES_MAX) return { value: undefined, at }
  const value = Number(cursor.bytes.toString('latin1', start, at.end))
  return { value: Number.isSafeInteger(value) && value >= 0 ? value : undefined, at }
}

const LIMIT_BYTES_MAX = 64

function numberOf(limit: Limit | undefined, end: number): ToolNumber {
  if (limit === undefined) return { value: undefined, at: { start: end, end } }
  return { value: limit.value ?? undefined, at: limit.at }
}

const TYPED_TOOL = /^(?:bash|text_editor|memory|computer)_\d{8}$/
const CLIENT_TOOLSET = /^(?:computer|browser)_/

/**
 * Counts the tool and returns the feature that it uses, if it is one. An unknown type counts as a
 * server tool: if it were taken for harmless, its passes would not be charged.
 */
function countTool(shape: InputShape, type: string): UnboundedFeature | undefined {
  if (type === 'custom') return undefined
  if (TYPED_TOOL.test(type)) {
    shape.typedTools += 1
    return undefined
  }
  shape.hiddenTools += 1
  if (CLIENT_TOOLSET.test(type)) return undefined
  const feature = featureOfTool(type)
  const toolType = type.slice(0, TOOL_TYPE_SHOWN_MAX)
  noteUnbounded(shape, feature, { field: `tools.${shape.tools - 1}`, toolType })
  return feature
}

// The vendor's types stay under 40; a prompt in this field is not echoed completely.
const TOOL_TYPE_SHOWN_MAX = 64

function featureOfTool(type: string): UnboundedFeature {
  if (type.startsWith('advisor_')) return 'advisor'
  if (type.startsWith('mcp_')) return 'mcp'
  return serverTools.find((tool) => type.startsWith(`${tool}_`)) ?? 'server_tools'
}

const serverTools = ['web_search', 'web_fetch', 'code_execution', 'tool_search'] as const
