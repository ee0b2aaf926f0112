// What a request feeds the model besides plain text: images, documents, tools and cache marks, as
// found while walking `messages`, `system` and `tools`. Only gathers; bound.ts turns it into tokens
// and request.ts decides what is a problem.

import {
  type Cursor,
  isArray,
  isNull,
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
import { match, type Names, names } from './names.ts'

/** Features that make the upstream run more than one pass, or another model, for one request. */
export type UnboundedFeature = 'server_tools' | 'mcp' | 'advisor' | 'fallbacks' | 'compaction'

/** How long the request asks the upstream to keep what it caches. */
export type CacheMark = 'none' | '5m' | '1h'

/** A half-open range of byte offsets in the body. */
export type Place = { readonly start: number; readonly end: number }

/** Plain data, so that it can come back from a worker thread. */
export type InputShape = {
  readonly bodyBytes: number
  /** The base64 text of each image carried in the body. */
  readonly images: Place[]
  /** Images named by address or file id. */
  linkedImages: number
  /** Something the body only names: a PDF, a linked document, a container. */
  isOpaque: boolean
  tools: number
  /** Client tools whose definition the vendor supplies: bash, text editor, memory, computer. */
  typedTools: number
  /** Toolsets and server tools, whose hidden definitions nobody has measured. */
  hiddenTools: number
  hasOutputFormat: boolean
  cacheMark: CacheMark
  readonly unbounded: UnboundedFeature[]
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
  }
}

/** Remembers each feature once. */
export function noteUnbounded(shape: InputShape, feature: UnboundedFeature): void {
  if (!shape.unbounded.includes(feature)) shape.unbounded.push(feature)
}

/** A member given twice: parsers differ in which one they believe. Caught inside this room. */
export class TwiceNamed extends Error {
  override readonly name = 'TwiceNamed'
  readonly field: string

  constructor(field: string) {
    super(`${field} is given twice`)
    this.field = field
  }
}

const blockNames = names('type', 'source', 'input', 'cache_control')
const blockTypes = names('image', 'document')
const sourceNames = names('type', 'data', 'content')
const sourceTypes = names('base64', 'url', 'file', 'text', 'content')
const toolNames = names('type', 'cache_control')
const cacheNames = names('ttl')
const cacheTtls = names('1h')

type BlockType = 'image' | 'document' | 'other'
type Source = {
  type: 'base64' | 'url' | 'file' | 'text' | 'content' | 'other'
  data: Place | undefined
}

/**
 * Reads a string, a block or blocks at any depth: images hide in tool results, fetched pages and
 * document contents. Only a tool's `input` is not looked into, being text to the model.
 */
export function readContent(cursor: Cursor, shape: InputShape): void {
  if (isArray(cursor)) {
    for (let more = openArray(cursor); more; more = nextItem(cursor)) readContent(cursor, shape)
  } else if (isObject(cursor)) readBlock(cursor, shape)
  else skipValue(cursor)
}

function readBlock(cursor: Cursor, shape: InputShape): void {
  let type: BlockType | undefined
  let source: Source | undefined
  for (let more = openObject(cursor); more; more = nextMember(cursor)) {
    switch (match(cursor, blockNames)) {
      case 'type':
        if (type !== undefined) throw new TwiceNamed('content.type')
        type = readWord(cursor, blockTypes) ?? 'other'
        break
      case 'source':
        if (source !== undefined) throw new TwiceNamed('content.source')
        source = readSource(cursor, shape)
        break
      case 'cache_control':
        readCacheControl(cursor, shape)
        break
      case 'input':
        skipValue(cursor)
        break
      case undefined:
        readContent(cursor, shape)
    }
  }
  if (source !== undefined) weighSource(shape, type ?? 'other', source)
}

/** The value, if it is a string among the given ones. */
function readWord<Name extends string>(cursor: Cursor, set: Names<Name>): Name | undefined {
  const given = isString(cursor)
  skipValue(cursor)
  return given ? match(cursor, set) : undefined
}

function readSource(cursor: Cursor, shape: InputShape): Source {
  const source: Source = { type: 'other', data: undefined }
  if (!isObject(cursor)) {
    // A search result's source is a string: text like any other.
    if (isString(cursor)) source.type = 'text'
    skipValue(cursor)
    return source
  }
  let hasType = false
  for (let more = openObject(cursor); more; more = nextMember(cursor)) {
    switch (match(cursor, sourceNames)) {
      case 'type':
        if (hasType) throw new TwiceNamed('source.type')
        hasType = true
        source.type = readWord(cursor, sourceTypes) ?? 'other'
        break
      case 'data':
        if (source.data !== undefined) throw new TwiceNamed('source.data')
        if (isString(cursor)) {
          skipString(cursor)
          source.data = { start: cursor.from, end: cursor.to }
        } else skipValue(cursor)
        break
      default:
        readContent(cursor, shape)
    }
  }
  return source
}

// An image costs 129 tokens at least (image.ts), so that many fill the largest window a catalogue
// may state, 10 million. Without a limit, 32 MiB of empty images would be remembered as 30 MiB.
const IMAGES_MAX = 80_000

function weighSource(shape: InputShape, type: BlockType, source: Source): void {
  if (source.type === 'text' || source.type === 'content') return
  if (type !== 'image' || shape.images.length === IMAGES_MAX) shape.isOpaque = true
  else if (source.type === 'base64' && source.data !== undefined) shape.images.push(source.data)
  else shape.linkedImages += 1
}

/** Keeps the longest time asked for anywhere; an odd value counts as the short one. */
export function readCacheControl(cursor: Cursor, shape: InputShape): void {
  if (!isNull(cursor) && shape.cacheMark === 'none') shape.cacheMark = '5m'
  if (isObject(cursor)) {
    for (let more = openObject(cursor); more; more = nextMember(cursor)) {
      if (match(cursor, cacheNames) === undefined) skipValue(cursor)
      else if (readWord(cursor, cacheTtls) === '1h') shape.cacheMark = '1h'
    }
  } else skipValue(cursor)
}

/** Reads the array of tool definitions; the cursor stands at it. */
export function readTools(cursor: Cursor, shape: InputShape): void {
  for (let more = openArray(cursor); more; more = nextItem(cursor)) {
    shape.tools += 1
    if (isObject(cursor)) readTool(cursor, shape)
    else skipValue(cursor)
  }
}

function readTool(cursor: Cursor, shape: InputShape): void {
  let hasType = false
  for (let more = openObject(cursor); more; more = nextMember(cursor)) {
    const name = match(cursor, toolNames)
    if (name === 'type') {
      if (hasType) throw new TwiceNamed('tools.type')
      hasType = true
      if (isString(cursor)) {
        skipString(cursor)
        weighTool(shape, stringValue(cursor))
      } else skipValue(cursor)
    } else if (name === 'cache_control') readCacheControl(cursor, shape)
    else skipValue(cursor)
  }
}

const TYPED_TOOL = /^(?:bash|text_editor|memory|computer)_\d{8}$/
const CLIENT_TOOLSET = /^(?:computer|browser)_/

// A type nobody knows counts as a server tool: guessing "harmless" would give its passes away.
function weighTool(shape: InputShape, type: string): void {
  if (type === 'custom') return
  if (TYPED_TOOL.test(type)) {
    shape.typedTools += 1
    return
  }
  shape.hiddenTools += 1
  if (CLIENT_TOOLSET.test(type)) return
  if (type.startsWith('advisor_')) noteUnbounded(shape, 'advisor')
  else if (type.startsWith('mcp_')) noteUnbounded(shape, 'mcp')
  else noteUnbounded(shape, 'server_tools')
}
