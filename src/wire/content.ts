// Finds images, documents, cache marks and tools added in the middle of a conversation, in
// `messages` and `system`. tools.ts reads `tools`.

import {
  type Cursor,
  isArray,
  isObject,
  isString,
  nextItem,
  nextMember,
  openArray,
  openObject,
  skipString,
  skipValue,
} from './json.ts'
import { match, names } from './names.ts'
import {
  type ByteRange,
  DuplicateMember,
  type InputShape,
  readCacheControl,
  readEnum,
} from './shape.ts'
import { readDefinition } from './tools.ts'

const blockNames = names('type', 'source', 'input', 'cache_control', 'definition')
const blockTypes = names('image', 'document')
const sourceNames = names('type', 'data', 'content')
const sourceTypes = names('base64', 'url', 'file', 'text', 'content')

type BlockType = 'image' | 'document' | 'other'
type Source = {
  type: 'base64' | 'url' | 'file' | 'text' | 'content' | 'other'
  data: ByteRange | undefined
}

/**
 * Reads a string, a block or blocks at any depth: tool results, fetched pages and documents may
 * contain images. A tool's `input` is skipped, because the model gets it as text.
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
        if (type !== undefined) throw new DuplicateMember('content.type')
        type = readEnum(cursor, blockTypes) ?? 'other'
        break
      case 'source':
        if (source !== undefined) throw new DuplicateMember('content.source')
        source = readSource(cursor, shape)
        break
      case 'cache_control':
        readCacheControl(cursor, shape)
        break
      case 'input':
        skipValue(cursor)
        break
      case 'definition':
        readDefinition(cursor, shape)
        break
      case undefined:
        readContent(cursor, shape)
    }
  }
  if (source !== undefined) countSource(shape, type ?? 'other', source)
}

function readSource(cursor: Cursor, shape: InputShape): Source {
  const source: Source = { type: 'other', data: undefined }
  if (!isObject(cursor)) {
    // The source of a search result is a string, which counts as text.
    if (isString(cursor)) source.type = 'text'
    skipValue(cursor)
    return source
  }
  let hasType = false
  for (let more = openObject(cursor); more; more = nextMember(cursor)) {
    switch (match(cursor, sourceNames)) {
      case 'type':
        if (hasType) throw new DuplicateMember('source.type')
        hasType = true
        source.type = readEnum(cursor, sourceTypes) ?? 'other'
        break
      case 'data':
        if (source.data !== undefined) throw new DuplicateMember('source.data')
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

// An image costs at least 129 tokens (image.ts), so this many fill the largest context window that
// a catalogue may state, 10 million. Without a limit, 32 MiB of empty images would make a list of
// 30 MiB.
const IMAGES_MAX = 80_000

function countSource(shape: InputShape, type: BlockType, source: Source): void {
  if (source.type === 'text' || source.type === 'content') return
  if (type !== 'image' || shape.images.length === IMAGES_MAX) shape.isOpaque = true
  else if (source.type === 'base64' && source.data !== undefined) shape.images.push(source.data)
  else shape.linkedImages += 1
}
