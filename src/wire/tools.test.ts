// Limits of server tools in the raw body: found where they stand, lowered there or inserted.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Edit, editBody } from './edit.ts'
import { readMessageRequest } from './request.ts'

function bodyWith(tools: string): Buffer {
  const messages = '[{"role":"user","content":"max_uses"}]'
  return Buffer.from(`{"model":"m","max_tokens":5,"messages":${messages},"tools":${tools} }`)
}

function toolsOf(tools: string) {
  const result = readMessageRequest(bodyWith(tools))
  assert.ok(result.ok, 'problem' in result ? result.problem.message : '')
  return result.request.shape.serverTools
}

function problemOf(tools: string): string {
  const result = readMessageRequest(bodyWith(tools))
  return result.ok ? '' : result.problem.message
}

/** The tools after both limits of each were set to 1 and 2. */
function edited(tools: string): string {
  const edits = toolsOf(tools).flatMap(({ maxUses, maxContentTokens }): Edit[] =>
    [
      { name: 'max_uses', value: 1, range: maxUses.at },
      { name: 'max_content_tokens', value: 2, range: maxContentTokens.at },
    ].map(({ name, ...edit }) => (edit.range.start === edit.range.end ? { ...edit, name } : edit)),
  )
  const text = Buffer.concat(editBody(bodyWith(tools), edits)).toString()
  JSON.parse(text)
  return text.slice(text.indexOf('"tools":') + 8, -2)
}

test('finds the limits of server tools, and only theirs', () => {
  const tools = toolsOf(`[{"name":"own","input_schema":{},"max_uses":7},
    {"max_uses": 3,"type":"web_search_20260318"},
    {"type":"web_fetch_20250910","max_content_tokens":2e3,"max_uses":null},
    {"type":"bash_20250124"}]`)
  assert.deepEqual(
    tools.map(({ feature, maxUses, maxContentTokens }) => [
      feature,
      maxUses.value,
      maxContentTokens.value,
    ]),
    [
      ['web_search', 3, undefined],
      ['web_fetch', undefined, 2_000],
    ],
  )
})

test('a limit is replaced where it stands, or inserted as the last member', () => {
  assert.equal(
    edited('[{"type":"web_fetch_1","max_uses" : 10 , "max_content_tokens":5e4,"x":1}]'),
    '[{"type":"web_fetch_1","max_uses" : 1 , "max_content_tokens":2,"x":1}]',
  )
  assert.equal(
    edited('[{"type":"web_search_1"}, { "max_uses":null ,"type":"web_fetch_1" } ]'),
    '[{"type":"web_search_1","max_uses":1,"max_content_tokens":2}, ' +
      '{ "max_uses":1 ,"type":"web_fetch_1" ,"max_content_tokens":2} ]',
  )
})

test('refuses limits that are no numbers, given twice, and too many server tools', () => {
  for (const value of ['"5"', '1.5', '-1', 'true', '{}', '1e400']) {
    assert.equal(
      problemOf(`[{"name":"a"},{"type":"web_search_1","max_uses":${value}}]`),
      'tools.1.max_uses: Input should be a valid integer',
    )
  }
  assert.equal(
    problemOf('[{"type":"web_search_1","max_uses":1,"max\\u005fuses":100}]'),
    'tools.max_uses: Field given twice',
  )
  const many = Array.from({ length: 65 }, () => '{"type":"web_search_1"}').join()
  assert.match(problemOf(`[${many}]`), /^tools: at most 64 server tools/)
  assert.equal(problemOf('[{"name":"own","max_uses":"any"}]'), '')
})
