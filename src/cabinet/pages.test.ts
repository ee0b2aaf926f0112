// The web application's files over HTTP: what is sent, how long it may be kept, what it may do.
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { systemClock } from '../platform/clock.ts'
import { createLog } from '../platform/log.ts'
import { pagesPart } from './pages.ts'
import { createServer } from './server.ts'

const log = createLog({ level: 'fatal' })
const options = {
  ...{ clock: systemClock, log, cell: 0, addressHeader: 'none', trustedProxies: 'none' },
  metrics: { answered: () => undefined },
}
const at = { directory: '', port: 0, end: async () => {} }

before(async () => {
  at.directory = await mkdtemp(join(tmpdir(), 'tollgate-pages-'))
  await mkdir(join(at.directory, 'assets'))
  await writeFile(join(at.directory, 'index.html'), '<!doctype html><title>Cabinet</title>')
  await writeFile(join(at.directory, 'assets/app-1a2b.js'), 'run()')
  await writeFile(join(at.directory, 'assets/app-1a2b.js.br'), brotliCompressSync('run()'))
  await writeFile(join(at.directory, 'assets/app-1a2b.js.gz'), gzipSync('run()'))
  await writeFile(join(at.directory, 'assets/app-1a2b.js.map'), '{}')
  await writeFile(join(at.directory, '..', 'tollgate-outside.html'), 'outside')
  const server = createServer(options, [pagesPart(at.directory, log)])
  at.port = await server.listen(0, '127.0.0.1')
  at.end = () => server.close({ idleMs: 0, limitMs: 1_000 })
})
after(async () => {
  await at.end()
  await rm(at.directory, { recursive: true, force: true })
})

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`http://127.0.0.1:${at.port}${path}`, { headers })

test('every path is the application, but for what is not a page', async () => {
  for (const path of ['/', '/orders/pay_1', '/sign-in?x=1', '/a.b/c', '/index.html']) {
    const answer = await get(path)
    assert.equal(answer.status, 200, path)
    assert.match(await answer.text(), /<title>Cabinet/)
    assert.equal(answer.headers.get('cache-control'), 'no-cache')
    assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8')
  }
  const none = ['/api/nothing', '/api', '/notifications/bank', '/assets/gone.js', '/assets/']
  for (const path of [...none, '/assets/app-1a2b.js.map', '/assets/app-1a2b.js.br']) {
    const answer = await get(path)
    assert.deepEqual([answer.status, answer.headers.get('cache-control')], [404, 'no-store'], path)
  }
})

test('a page may run only what came from here, and nothing may frame it', async () => {
  const { headers } = await get('/')
  const policy = headers.get('content-security-policy')?.split(';') ?? []
  const expected = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ]
  for (const one of expected) assert.ok(policy.includes(one), one)
  assert.ok(!/unsafe|\*|https?:/.test(policy.join(';')))
  assert.equal(headers.get('x-content-type-options'), 'nosniff')
  assert.equal(headers.get('referrer-policy'), 'no-referrer')
  assert.equal(headers.get('cross-origin-opener-policy'), 'same-origin')
  assert.match(headers.get('permissions-policy') ?? '', /camera=\(\)/)
  assert.match(headers.get('strict-transport-security') ?? '', /max-age=63072000/)
})

test('hashed files are kept for ever, packed as the browser takes them', async () => {
  const path = '/assets/app-1a2b.js'
  for (const [accepted, encoding] of [
    ['gzip, deflate, br', 'br'],
    ['gzip;q=0.5, br;q=0', 'gzip'],
    ['identity', null],
  ] as const) {
    const answer = await get(path, { 'accept-encoding': accepted })
    assert.equal(answer.headers.get('content-encoding'), encoding, accepted)
    assert.equal(await answer.text(), 'run()')
    assert.equal(answer.headers.get('cache-control'), 'public, max-age=31536000, immutable')
    assert.equal(answer.headers.get('vary'), 'accept-encoding')
  }
})

test('what has not changed is not sent again', async () => {
  const etag = (await get('/')).headers.get('etag') ?? ''
  const again = await get('/orders', { 'if-none-match': etag })
  assert.deepEqual([again.status, await again.text()], [304, ''])
})

test('no path leads out of the directory', async () => {
  // By hand, because fetch tidies paths up.
  for (const path of [
    '/../tollgate-outside.html',
    '/%2e%2e/tollgate-outside.html',
    '//etc/passwd',
  ]) {
    const text = await new Promise<string>((resolve, reject) => {
      request({ port: at.port, host: '127.0.0.1', path }, async (answer) => {
        resolve((await answer.toArray()).join(''))
      })
        .on('error', reject)
        .end()
    })
    assert.doesNotMatch(text, /outside|root:/, path)
  }
})

test('without built pages none are served, and nothing breaks', async () => {
  for (const directory of ['none', join(at.directory, 'nothing')]) {
    const server = createServer(options, [pagesPart(directory, log)])
    assert.equal((await server.inject('/')).statusCode, 404)
    await server.close()
  }
})
