// The bound is never too low for one pass, and never above the window.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Tokens, tokens } from '../units/tokens.ts'
import { boundInput } from './bound.ts'
import { readMessageRequest } from './request.ts'

const window = tokens(200_000)

function bodyOf(content: unknown, fields: object = {}): Buffer {
  const messages = [{ role: 'user', content }]
  return Buffer.from(JSON.stringify({ model: 'm', max_tokens: 1, messages, ...fields }))
}

function boundOf(body: Buffer, cap: Tokens = window): number {
  const result = readMessageRequest(body)
  assert.ok(result.ok)
  return Number(boundInput(result.request.shape, body, cap).inputBound)
}

/** The same text with every character beyond ASCII written as an escape. */
function escaped(body: Buffer): Buffer {
  const text = body.toString('utf8')
  const code = (unit: string): string => unit.charCodeAt(0).toString(16).padStart(4, '0')
  return Buffer.from(text.replace(/[^\x20-\x7e]/g, (unit) => `\\u${code(unit)}`))
}

// Base64 of 24 bytes of PNG header: signature, length, IHDR, width, height.
function png(width: number, height: number): string {
  const header = Buffer.from('89504e470d0a1a0a0000000d494844520000000000000000', 'hex')
  header.writeUInt32BE(width, 16)
  header.writeUInt32BE(height, 20)
  return header.toString('base64')
}

function image(data: string, mediaType = 'image/png'): object {
  return { type: 'image', source: { type: 'base64', media_type: mediaType, data } }
}

/** The tokens that the images add to the same body without them. */
function imagesCost(blocks: readonly object[]): number {
  const body = bodyOf(blocks)
  let data = 0
  JSON.stringify(blocks, (name, value) => {
    if (name === 'data') data += String(value).length
    return value
  })
  return boundOf(body) - (body.length - data)
}

test('plain text is bounded by its bytes', () => {
  const body = bodyOf('Hello there')
  assert.equal(boundOf(body), body.length)
  const russian = bodyOf('Привет, как дела?')
  assert.equal(boundOf(russian), russian.length)
})

test('text is bounded by its bytes before and after NFKC, written raw or escaped', () => {
  const unit = fc.oneof(fc.constantFrom('ﷺ', '㌀', '⁗', '½', 'à', '\u0323', 'й', '한', 'ﬃ', 'Ａ'))
  const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit }), fc.string())
  fc.assert(
    fc.property(text, (content) => {
      const least = Math.max(
        Buffer.byteLength(content),
        Buffer.byteLength(content.normalize('NFKC')),
      )
      const raw = bodyOf(content)
      const frame = bodyOf('').length
      assert.ok(boundOf(raw) - frame >= least)
      assert.ok(boundOf(escaped(raw)) - frame >= least)
    }),
    { numRuns: 500 },
  )
})

test('no character costs more than its bound, written raw or escaped', () => {
  const frame = bodyOf('').length
  for (let code = 0x80; code < 0x10000; code += 1) {
    if (code >= 0xd800 && code < 0xe000) continue
    const character = String.fromCharCode(code)
    const least = Buffer.byteLength(character.normalize('NFKC'))
    if (least <= 3) continue
    const body = bodyOf(character)
    assert.ok(boundOf(body) - frame >= least, code.toString(16))
    assert.ok(boundOf(escaped(body)) - frame >= least, code.toString(16))
  }
})

test('a long text costs the same wherever its pieces are cut', () => {
  const filler = 'слово и ещё '.repeat(900)
  const body = bodyOf(`${filler}${'ﷺ'.repeat(2_000)}${filler}`)
  const text = body.toString('utf8')
  assert.equal(boundOf(body), Buffer.byteLength(text.normalize('NFKC')))
})

test('an image costs its patches, up to the maximum, whatever its bytes', () => {
  assert.equal(imagesCost([image(png(256, 256))]), 100 + 128)
  assert.equal(imagesCost([image(png(1280, 720))]), 1196 + 128)
  assert.equal(imagesCost([image(png(8000, 8000))]), 4784 + 128)
  assert.equal(imagesCost([image(png(28, 28)), image(png(29, 28))]), 1 + 2 + 2 * 128)
})

test('finds the size of a JPEG after its other segments', () => {
  const segments = 'ffd8ffe000104a46494600010100000100010000ffc40008010203040506'
  const frame = `${segments}ffc000110800700038030122000211010311013f`
  const data = Buffer.from(frame, 'hex').toString('base64')
  assert.equal(imagesCost([image(data, 'image/jpeg')]), 8 + 128)
})

test('an image of unknown size costs the flat maximum', () => {
  const gif = Buffer.from('GIF89a\x01\x00\x01\x00', 'latin1').toString('base64')
  for (const data of [gif, png(0, 5), '', 'iVBO', '/9j/']) {
    assert.equal(imagesCost([image(data)]), 5_000, data)
  }
  const sources = [
    { type: 'url', url: 'https://x' },
    { type: 'file', file_id: 'f' },
  ]
  for (const source of sources) assert.equal(imagesCost([{ type: 'image', source }]), 5_000)
})

test('an image is found inside tool results, fetched pages and documents', () => {
  const one = image(png(28, 28))
  const nested = [
    { type: 'tool_result', tool_use_id: 't', content: [one] },
    { type: 'document', source: { type: 'content', content: [one] } },
    { type: 'web_fetch_tool_result', content: { type: 'web_fetch_result', content: one } },
    { source: { data: png(28, 28), type: 'base64' }, type: 'image' },
  ]
  for (const block of nested) assert.equal(imagesCost([block]), 1 + 128)
})

test('input that the body only names counts as the whole context window', () => {
  const pdf = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' }
  const sources = [pdf, { type: 'url', url: 'https://x' }, { type: 'file', file_id: 'f' }]
  for (const source of sources) {
    assert.equal(boundOf(bodyOf([{ type: 'document', source }])), 200_000)
  }
  const unknown = { type: 'hologram', source: { type: 'url', url: 'https://x' } }
  assert.equal(boundOf(bodyOf([unknown])), 200_000)
  assert.equal(boundOf(bodyOf('x', { container: 'container_1' })), 200_000)
  const plain = {
    type: 'document',
    source: { type: 'text', media_type: 'text/plain', data: 'abc' },
  }
  const body = bodyOf([plain, { type: 'search_result', source: 'https://x', content: [] }])
  assert.equal(boundOf(body), body.length)
})

test('hidden prompts of tools and of structured output are added', () => {
  const added = (fields: object): number => {
    const body = bodyOf('x', fields)
    return boundOf(body) - body.length
  }
  assert.equal(added({ tools: [{ name: 'a' }, { name: 'b' }] }), 1_024)
  assert.equal(added({ tools: [{ type: 'text_editor_20250728' }] }), 1_024 + 1_536)
  assert.equal(added({ tools: [{ type: 'web_search_20250305' }] }), 1_024 + 8_192)
  assert.equal(added({ output_config: { format: { type: 'json_schema' } } }), 1_024)
})

test('the context window caps the bound', () => {
  const body = bodyOf('ﷺ'.repeat(1_000))
  assert.equal(boundOf(body, tokens(body.length - 1)), body.length - 1)
  assert.equal(boundOf(body, tokens(20_000)), 20_000)
  const images = bodyOf([image(png(8000, 8000)), image(png(8000, 8000))])
  assert.equal(boundOf(images, tokens(6_000)), 6_000)
})

test('lists at most as many images as fill any window; more count as the whole window', () => {
  const shapeOf = (count: number) => {
    const result = readMessageRequest(bodyOf(Array(count).fill(image(''))))
    assert.ok(result.ok)
    return result.request.shape
  }
  const [most, more] = [shapeOf(80_000), shapeOf(80_001)]
  assert.deepEqual([most.images.length, most.isOpaque], [80_000, false])
  assert.deepEqual([more.images.length, more.isOpaque], [80_000, true])
})

test('lists features that run more than one pass', () => {
  const body = bodyOf('x', { fallbacks: 'default', mcp_servers: [{}] })
  const result = readMessageRequest(body)
  assert.ok(result.ok)
  assert.deepEqual(boundInput(result.request.shape, body, window).unbounded, ['fallbacks', 'mcp'])
})
