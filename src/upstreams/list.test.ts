// The file of several upstreams: what it may say, and every complaint at once.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readList } from './list.ts'

function complaintsOf(text: string): readonly string[] {
  const read = readList(text)
  assert.ok('complaints' in read, 'the file was taken')
  return read.complaints
}

test('the example file is taken', () => {
  const file = join(import.meta.dirname, '../../upstreams.example.yaml')
  const read = readList(readFileSync(file, 'utf8'))
  assert.ok('upstreams' in read)
  assert.deepEqual(
    read.upstreams.map(({ name, priority, weight }) => [name, priority, weight]),
    [
      ['main', 1, 3],
      ['second', 1, 1],
      ['reserve', 2, 1],
    ],
  )
})

test('a name, an address and a key are enough', () => {
  const read = readList('upstreams: [{ name: a, url: "https://api.example", keys: [env:KEY] }]')
  assert.deepEqual(read, {
    upstreams: [
      {
        name: 'a',
        url: 'https://api.example',
        keys: ['env:KEY'],
        models: [],
        priority: 1,
        weight: 1,
        temperatureMax: 1,
      },
    ],
  })
})

test('everything that is wrong is said at once, with its line', () => {
  const complaints = complaintsOf(`upstreams:
  - name: Main
    url: ftp://example
    keys: [sk-plain-secret]
    temperatureMax: 3
  - name: b
    url: http://example/
    keys: []
    wieght: 2
  - url: http://example
    keys: [env:B]
    priority: -1
`)
  const has = (pattern: RegExp) =>
    assert.ok(
      complaints.some((one) => pattern.test(one)),
      `${pattern}\n${complaints.join('\n')}`,
    )
  has(/^line 2: upstreams\.0\.name expected a-z/)
  has(/^line 3: upstreams\.0\.url expected http/)
  has(/^line 4: upstreams\.0\.keys\.0 expected env:NAME or file:/)
  has(/^line 5: upstreams\.0\.temperatureMax /)
  has(/^line 7: upstreams\.1\.url expected http/)
  has(/^line 8: upstreams\.1\.keys /)
  has(/^line 9: upstreams\.1\.wieght no such name; the nearest known one is weight/)
  has(/^line 10: upstreams\.2\.name is missing/)
  has(/^line 12: upstreams\.2\.priority /)
  assert.equal(complaints.length, 9, complaints.join('\n'))
})

test('a credential written into the file is refused without being repeated', () => {
  const text = 'upstreams: [{ name: a, url: "http://a", keys: [sk-plain-secret] }]'
  assert.doesNotMatch(complaintsOf(text).join('\n'), /sk-plain-secret/)
})

test('every name that stands twice is named', () => {
  const one = (name: string) => `  - { name: ${name}, url: "http://x", keys: [env:K] }\n`
  const text = `upstreams:\n${['a', 'b', 'a', 'c', 'b'].map(one).join('')}`
  assert.deepEqual(complaintsOf(text), ['two upstreams are named a', 'two upstreams are named b'])
})

test('a file that is no YAML, or is empty, is refused with its reason', () => {
  assert.match(complaintsOf('upstreams: [').join('\n'), /^line 1: /)
  assert.match(complaintsOf('').join('\n'), /./)
  assert.match(complaintsOf('upstreams: []').join('\n'), /upstreams /)
})
