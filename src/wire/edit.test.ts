// An edit changes the values it names and no other byte.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { bytesTotal, editBody } from './edit.ts'
import { readMessageRequest } from './request.ts'

test('only the edited numbers change; every other byte stays', () => {
  const extra = fc.jsonValue({ maxDepth: 2 })
  const number = fc.constantFrom('64000', '1e3', '1000.0', '0')
  fc.assert(
    fc.property(extra, number, fc.nat(), fc.boolean(), (value, written, lowered, isFirst) => {
      const rest = `"x":${JSON.stringify(value)},"big":9007199254740993,"y":"\\ud83d \\u00e9 é"`
      const turns = '"messages" : [{"role":"user","content":"max_tokens\\": 5"}]'
      const asked = (tokens: string, temperature: string): string =>
        isFirst
          ? `{"max_tokens":\t${tokens} ,"temperature":${temperature},${rest},"model":"m",${turns}}`
          : `{"model":"m",${rest},"temperature":${temperature},${turns},"max_tokens":${tokens}}\n`
      const body = Buffer.from(asked(written, '1.50'))
      const result = readMessageRequest(body)
      assert.ok(result.ok && result.request.temperatureAt !== undefined)
      const { maxTokensAt, temperatureAt } = result.request
      const slices = editBody(body, [
        { range: maxTokensAt, value: lowered },
        { range: temperatureAt, value: 1 },
      ])
      assert.equal(Buffer.concat(slices).toString('utf8'), asked(String(lowered), '1'))
      assert.equal(bytesTotal(slices), Buffer.concat(slices).length)
    }),
  )
})

test('a removed member takes one comma with it, and every other byte stays', () => {
  const turns = '"messages":[{"role":"user","content":"\\"temperature\\":1,"}]'
  const rest = ['"model":"m"', '"max_tokens" : 5', turns]
  for (const member of [
    '"temperature":1.5',
    ' "temp\\u0065rature" :\t2e-1 ',
    '\n"temperature":0',
  ]) {
    for (let at = 0; at <= rest.length; at++) {
      const body = Buffer.from(`{${rest.toSpliced(at, 0, member).join(',')}}`)
      const result = readMessageRequest(body)
      assert.ok(result.ok && result.request.temperatureAt !== undefined)
      const { temperatureAt, maxTokensAt } = result.request
      const slices = editBody(body, [
        { range: temperatureAt, isRemoved: true },
        { range: maxTokensAt, value: 7 },
      ])
      const edited = Buffer.concat(slices).toString()
      const expected = `{${rest.join(',')}}`.replace('"max_tokens" : 5', '"max_tokens" : 7')
      assert.equal(withoutSpace(edited), withoutSpace(expected))
      assert.deepEqual(JSON.parse(edited), JSON.parse(expected))
    }
  }
  const alone = Buffer.from('{ "a" : 1 }')
  const slices = editBody(alone, [{ range: { start: 8, end: 9 }, isRemoved: true }])
  assert.deepEqual(JSON.parse(Buffer.concat(slices).toString()), {})
})

test('a body without edits is not copied', () => {
  const body = Buffer.from('{}')
  const [only, ...others] = editBody(body, [])
  assert.equal(only?.buffer, body.buffer)
  assert.deepEqual(others, [])
})

test('throws for a range that holds no number', () => {
  const body = Buffer.from('{"a":12,"b":"34"}')
  const edit = (start: number, end: number) => () =>
    editBody(body, [{ range: { start, end }, value: 1 }])
  assert.throws(edit(4, 7), RangeError)
  assert.throws(edit(12, 14 + 1), RangeError)
  assert.throws(edit(0, 0), RangeError)
  const range = { start: 5, end: 7 }
  assert.throws(() => editBody(body, [{ range, value: Number.NaN }]), RangeError)
  assert.throws(
    () =>
      editBody(
        body,
        [range, range].map((at) => ({ range: at, value: 1 })),
      ),
    RangeError,
  )
})

function withoutSpace(text: string): string {
  return text.replaceAll(/\s/g, '')
}
