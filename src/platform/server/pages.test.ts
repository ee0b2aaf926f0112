// The web application's files over HTTP: paths, caching, compression, content security policy.
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { brotliCompressSync, brotliDecompressSync, gzipSync } from 'node:zlib'
import { systemClock } from '../clock.ts'
import { createLog } from '../log.ts'
import { createAnswers, serverStatuses } from './answers.ts'
import { pageOf, pagesPlugin } from './pages.ts'
import { createServer } from './server.ts'

const log = createLog({ level: 'fatal' })
const options = {
  ...{ clock: systemClock, log, cell: 0, addressHeader: 'none', trustedProxies: 'none' },
  metrics: { countAnswer: () => undefined },
  answers: createAnswers({ statuses: serverStatuses, dataOf: () => ({}) }),
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
  await mkdir(join(at.directory, 'server'))
  await writeFile(join(at.directory, 'server/render.js'), 'secret()')
  await writeFile(join(at.directory, '..', 'tollgate-outside.html'), 'outside')
  const server = createServer(options, [pagesPlugin(at.directory, log)])
  at.port = await server.listen(0, '127.0.0.1')
  at.end = () => server.close({ idleMs: 0, limitMs: 1_000 })
})
after(async () => {
  await at.end()
  await rm(at.directory, { recursive: true, force: true })
})

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`http://127.0.0.1:${at.port}${path}`, { headers })

test('every path gets index.html, except paths that are not pages', async () => {
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

test('a page may run only scripts of this server, and no site may frame it', async () => {
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

test('hashed files are cached for ever, in an encoding that the browser accepts', async () => {
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

test('answers 304 when the file has not changed', async () => {
  const etag = (await get('/')).headers.get('etag') ?? ''
  const again = await get('/orders', { 'if-none-match': etag })
  assert.deepEqual([again.status, await again.text()], [304, ''])
})

test('no path leads out of the directory', async () => {
  // Not by fetch, which normalizes paths.
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

test('code for the server is not served', async () => {
  const answer = await get('/server/render.js')
  assert.doesNotMatch(await answer.text(), /secret/)
})

test('a page made for a request goes before files, compressed, with cookie and vary', async () => {
  const page = pageOf('<p>made</p>'.repeat(200), 'text/html; charset=utf-8')
  const server = createServer(options, [
    pagesPlugin(at.directory, log, {
      openPages:
        async (_directory, indexHtml) =>
        async ({ url }) => {
          assert.match(indexHtml, /<title>Cabinet/)
          return url === '/made' ? { page, vary: 'cookie', cookie: 'language=en' } : undefined
        },
    }),
  ])
  const made = await server.inject({ url: '/made', headers: { 'accept-encoding': 'br' } })
  assert.deepEqual(
    [made.headers['content-encoding'], made.headers.vary, made.headers['set-cookie']],
    ['br', 'accept-encoding, cookie', 'language=en'],
  )
  assert.equal(brotliDecompressSync(made.rawPayload).toString(), page.bytes.toString())
  assert.match(String(made.headers['content-security-policy']), /script-src 'self'/)
  assert.match((await server.inject('/other')).body, /<title>Cabinet/)
  await server.close()
})

test('a path that has moved leads to its page, with its query', async () => {
  const openPages = async () => async () => ({ movedTo: '/docs/quick-start' })
  const server = createServer(options, [pagesPlugin(at.directory, log, { openPages })])
  for (const query of ['', '?lang=en', '?a=b?c']) {
    const { statusCode, headers } = await server.inject(`/docs${query}`)
    assert.deepEqual([statusCode, headers.location], [302, `/docs/quick-start${query}`])
  }
  await server.close()
})

test('a path of no page answers 404 with the application, which says so; files stay', async () => {
  const openPages = async () => async () => ({ isMissing: true }) as const
  const server = createServer(options, [pagesPlugin(at.directory, log, { openPages })])
  const missing = await server.inject('/nothing-here')
  assert.deepEqual([missing.statusCode, /<title>Cabinet/.test(missing.body)], [404, true])
  const again = { 'if-none-match': String(missing.headers.etag) }
  assert.equal((await server.inject({ url: '/nothing-here', headers: again })).statusCode, 404)
  assert.equal((await server.inject('/assets/app-1a2b.js')).statusCode, 200)
  await server.close()
})

test('serves no pages when they are not built', async () => {
  for (const directory of ['none', join(at.directory, 'nothing')]) {
    const server = createServer(options, [pagesPlugin(directory, log)])
    assert.equal((await server.inject('/')).statusCode, 404)
    await server.close()
  }
})

test('scripts may send requests to this server and to a named origin', async () => {
  const server = createServer(options, [
    pagesPlugin(at.directory, log, { connectTo: 'https://api.example.org' }),
  ])
  const port = await server.listen(0, '127.0.0.1')
  const policyOf = async (on: number) =>
    (await fetch(`http://127.0.0.1:${on}/`)).headers.get('content-security-policy')
  assert.match((await policyOf(port)) ?? '', /;connect-src 'self' https:\/\/api\.example\.org;/)
  assert.match((await policyOf(at.port)) ?? '', /;connect-src 'self';/)
  await server.close({ idleMs: 0, limitMs: 1_000 })
})
