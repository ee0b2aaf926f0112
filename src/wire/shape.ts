// What a request gives the model besides plain text, and what it asks the vendor to do, as far as
// limits and prices depend on it. content.ts and tools.ts fill it in while they read; bound.ts
// turns it into tokens.

import {
  type Cursor,
  isNull,
  isObject,
  isString,
  nextMember,
  openObject,
  skipValue,
} from './json.ts'
import { match, type Names, names } from './names.ts'

/** Features that make the upstream run more than one pass, or another model, for one request. */
export type UnboundedFeature =
  | ('web_search' | 'web_fetch' | 'code_execution' | 'tool_search' | 'server_tools')
  | ('mcp' | 'advisor' | 'fallbacks' | 'compaction')

/** Where a request asks for a feature: a field, and the type of a tool if it is one. */
export type FeatureOrigin = { readonly field: string; readonly toolType?: string }

/** How long the request asks the upstream to keep cached input. */
export type CacheMark = 'none' | '5m' | '1h'

/** A half-open range of byte offsets in the body. */
export type ByteRange = { readonly start: number; readonly end: number }

/** Plain data, so that a worker thread can send it back. */
export type InputShape = {
  readonly bodyBytes: number
  /** The base64 text of each image carried in the body. */
  readonly images: ByteRange[]
  /** Images given by URL or file id. */
  linkedImages: number
  /**
   * The body only names some input whose size is unknown: a PDF, a linked document, a container.
   */
  isOpaque: boolean
  tools: number
  /** Client tools whose definition the vendor supplies: bash, text editor, memory, computer. */
  typedTools: number
  /** Toolsets and server tools, for whose hidden definitions there is no measurement. */
  hiddenTools: number
  hasOutputFormat: boolean
  cacheMark: CacheMark
  readonly unbounded: UnboundedFeature[]
  /** Other models that the request names: of an advisor, of fallbacks. */
  readonly otherModels: string[]
  /** Speeds that fallbacks ask for. */
  readonly otherSpeeds: string[]
  /** Where each of `unbounded` occurs first, for the words of a refusal. */
  readonly origins: Partial<Record<UnboundedFeature, FeatureOrigin>>
  readonly serverTools: ServerTool[]
  /** The first problem with a tool, in the vendor's words. */
  toolProblem: { readonly path: string; readonly sentence: string } | undefined
}

/** A number that the gateway may lower; `at` is empty where it would have to be inserted. */
export type ToolNumber = { readonly value: number | undefined; readonly at: ByteRange }

/** A tool that the vendor runs, with its limits. */
export type ServerTool = {
  readonly feature: UnboundedFeature
  readonly maxUses: ToolNumber
  readonly maxContentTokens: ToolNumber
}

export function emptyShape(bodyBytes: number): InputShape {
  return {
    bodyBytes,
    images: [],
    linkedImages: 0,
    isOpaque: false,
    tools: 0,
    typedTools: 0,
    hiddenTools: 0,
    hasOutputFormat: false,
    cacheMark: 'none',
    unbounded: [],
    otherModels: [],
    otherSpeeds: [],
    origins: {},
    serverTools: [],
    toolProblem: undefined,
  }
}

/** Lists each feature once. */
export function noteUnbounded(
  shape: InputShape,
  feature: UnboundedFeature,
  origin: FeatureOrigin,
): void {
  if (shape.unbounded.includes(feature)) return
  shape.unbounded.push(feature)
  shape.origins[feature] = origin
}

// The vendor takes a few fallbacks. A name that no model has stands for all beyond this number, so
// that they are refused and a body of 32 MiB makes no long list.
const OTHERS_MAX = 32
const TOO_MANY = ''

/** Keeps a model or a speed for which the bill would be another one. */
export function noteOther(others: string[], name: string | undefined): void {
  if (name === undefined || others.includes(name)) return
  if (others.length < OTHERS_MAX) others.push(name)
  else others[0] = TOO_MANY
}

/** A member occurs twice, and parsers differ in which one they use. Caught inside this module. */
export class DuplicateMember extends Error {
  override readonly name = 'DuplicateMember'
  readonly field: string

  constructor(field: string) {
    super(`${field} is given twice`)
    this.field = field
  }
}

const cacheNames = names('ttl')
const cacheTtls = names('1h')

/** Keeps the longest time that any block asks for; an unknown value counts as the short one. */
export function readCacheControl(cursor: Cursor, shape: InputShape): void {
  if (!isNull(cursor) && shape.cacheMark === 'none') shape.cacheMark = '5m'
  if (isObject(cursor)) {
    for (let more = openObject(cursor); more; more = nextMember(cursor)) {
      if (match(cursor, cacheNames) === undefined) skipValue(cursor)
      else if (readEnum(cursor, cacheTtls) === '1h') shape.cacheMark = '1h'
    }
  } else skipValue(cursor)
}

/** The value, if it is a string among the given ones. */
export function readEnum<Name extends string>(cursor: Cursor, set: Names<Name>): Name | undefined {
  const given = isString(cursor)
  skipValue(cursor)
  return given ? match(cursor, set) : undefined
}
