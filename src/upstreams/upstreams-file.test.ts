// The file of several upstreams: what it may contain, and that all problems are reported at once.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readUpstreamsFile } from './upstreams-file.ts'

function problemsOf(text: string): readonly string[] {
  const read = readUpstreamsFile(text)
  assert.ok('problems' in read, 'the file was taken')
  return read.problems
}

test('accepts the example file', () => {
  const file = join(import.meta.dirname, '../../upstreams.example.yaml')
  const read = readUpstreamsFile(readFileSync(file, 'utf8'))
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

test('a name, a URL and a key are enough', () => {
  const read = readUpstreamsFile(
    'upstreams: [{ name: a, url: "https://api.example", keys: [env:KEY] }]',
  )
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

test('an upstream may have a proxy and certificates of its own', () => {
  const lines = [
    'proxy: "socks5://proxy.example:1080"',
    'proxyLogin: file:/run/secrets/login',
    'ca: /etc/ca.pem',
    'clientCertificate: /etc/client.pem',
    'clientKey: /run/secrets/client.key',
    'http2: true',
    'connectionMaxAgeMs: 60000',
  ]
  const one = (more: readonly string[]) =>
    `upstreams: [{ name: a, url: "https://a", keys: [env:K], ${more.join(', ')} }]`
  const read = readUpstreamsFile(one(lines))
  assert.ok('upstreams' in read)
  const { proxy, proxyLogin, http2, connectionMaxAgeMs } = read.upstreams[0] ?? {}
  assert.deepEqual(
    [proxy, proxyLogin, http2, connectionMaxAgeMs],
    ['socks5://proxy.example:1080', 'file:/run/secrets/login', true, 60_000],
  )
  const refused = problemsOf(one(['proxy: "http://user:secret@proxy:3128"', 'proxyLogin: "u:p"']))
  assert.match(refused.join('\n'), /proxy expected http\(s\):\/\/ or socks5:\/\/host:port/)
  assert.match(refused.join('\n'), /proxyLogin expected env:NAME or file:\/path/)
  assert.doesNotMatch(refused.join('\n'), /secret@/)
})

test('reports all problems at once, each with its line', () => {
  const problems = problemsOf(`upstreams:
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
      problems.some((one) => pattern.test(one)),
      `${pattern}\n${problems.join('\n')}`,
    )
  has(/^line 2: upstreams\.0\.name expected a-z/)
  has(/^line 3: upstreams\.0\.url expected http/)
  has(/^line 4: upstreams\.0\.keys\.0 expected env:NAME, file:\/path or command:/)
  has(/^line 5: upstreams\.0\.temperatureMax /)
  has(/^line 7: upstreams\.1\.url expected http/)
  has(/^line 8: upstreams\.1\.keys /)
  has(/^line 9: upstreams\.1\.wieght no such name; the nearest known one is weight/)
  has(/^line 10: upstreams\.2\.name is missing/)
  has(/^line 12: upstreams\.2\.priority /)
  assert.equal(problems.length, 9, problems.join('\n'))
})

test('rejects a credential in the file without quoting it', () => {
  const text = 'upstreams: [{ name: a, url: "http://a", keys: [sk-plain-secret] }]'
  assert.doesNotMatch(problemsOf(text).join('\n'), /sk-plain-secret/)
})

test('reports every duplicate name', () => {
  const one = (name: string) => `  - { name: ${name}, url: "http://x", keys: [env:K] }\n`
  const text = `upstreams:\n${['a', 'b', 'a', 'c', 'b'].map(one).join('')}`
  assert.deepEqual(problemsOf(text), ['two upstreams are named a', 'two upstreams are named b'])
})

test('rejects a file that is not YAML, or is empty, with the reason', () => {
  assert.match(problemsOf('upstreams: [').join('\n'), /^line 1: /)
  assert.match(problemsOf('').join('\n'), /./)
  assert.match(problemsOf('upstreams: []').join('\n'), /upstreams /)
})
