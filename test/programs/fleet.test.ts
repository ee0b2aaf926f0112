// `serve` as its operators see it: what its port of metrics says while something that it needs is
// away, and upstreams behind a proxy. `npm run faults -- frozen-worker` breaks its processes.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { after, before, test } from 'node:test'
import { startVendor } from '../../stand-ins/vendor/vendor.ts'
import { freePorts } from '../../tools/free-port.ts'
import { createGatewayStage, type Serving } from '../stages/served/gateway.ts'
import { createDatabaseProxy } from '../support/database-proxy.ts'
import { sleep } from '../support/drill.ts'
import { startConnectProxy, startSocksProxy } from '../support/proxies.ts'

type Stage = Awaited<ReturnType<typeof createGatewayStage>>

const place: { stage?: Stage } = {}
const WAIT_MS_MAX = 60_000
/** A drain would wait for kept connections. */
const CLOSE = { headers: { connection: 'close' } }

before(async () => {
  place.stage = await createGatewayStage(1)
})
after(() => place.stage?.end())

async function serve(env: Readonly<Record<string, string>>): Promise<Serving> {
  const one = { GATEWAY_PROCESSES: '1', UPSTREAM_URL: 'http://127.0.0.1:9', ...env }
  return (place.stage as Stage).serve(one)
}

async function until(
  serving: Serving,
  path: string,
  isRight: (status: number, body: string) => boolean,
) {
  const deadlineMs = performance.now() + WAIT_MS_MAX
  for (;;) {
    const reply = await fetch(`${serving.metricsUrl}${path}`).catch(() => undefined)
    const [status, body] = [reply?.status ?? 0, (await reply?.text()) ?? '']
    if (isRight(status, body)) return
    if (performance.now() > deadlineMs) assert.fail(`${path}: ${status} ${body}`)
    await sleep(50)
  }
}

function ask(serving: Serving, text = 'hi'): Promise<number> {
  const [key = ''] = (place.stage as Stage).keys
  return fetch(`${serving.url}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key, connection: 'close' },
    body: JSON.stringify({
      model: 'model-large',
      max_tokens: 9,
      messages: [{ role: 'user', content: text }],
    }),
  }).then(({ status }) => status)
}

test('stays ready while the database is away, and says so', async (t) => {
  const proxy = await createDatabaseProxy((place.stage as Stage).database.url)
  t.after(() => proxy.end())
  const serving = await serve({ DATABASE_URL: proxy.url })
  await until(serving, '/readyz', (status, body) => status === 200 && body === 'ready\n')
  proxy.cut()
  const AWAY = 'ready\nthe database does not answer: requests wait for it\n'
  await until(serving, '/readyz', (status, body) => status === 200 && body === AWAY)
  await until(serving, '/metrics', (_, body) => body.includes('\ngateway_ledger_away 1\n'))
  await until(serving, '/metrics', (_, body) => body.includes('\ngateway_ready 1\n'))
  proxy.restore()
  await until(serving, '/readyz', (status, body) => status === 200 && !body.includes('database'))
  assert.equal(await serving.stop(), 0)
})

test('stays ready while every upstream fails, and says so', async () => {
  const serving = await serve({})
  for (let i = 0; i < 10; i++) await ask(serving, `hi ${i}`)
  const AWAY =
    'ready\nno upstream is well: each fails, refuses our credential, is drained or has none\n'
  await until(serving, '/readyz', (status, body) => status === 200 && body === AWAY)
  await until(serving, '/metrics', (_, body) => body.includes('\ngateway_upstreams_away 1\n'))
  assert.equal(await serving.stop(), 0)
})

test('serves while its port of metrics is taken, and has it when it is free', async () => {
  const [metricsPort = 0] = await freePorts(1)
  const taker = createServer().listen(metricsPort, '127.0.0.1')
  await once(taker, 'listening')
  const serving = await serve({ METRICS_PORT: String(metricsPort) })
  assert.equal((await fetch(`${serving.url}/v1/models`, CLOSE)).status, 200)
  await serving.until('metrics are not served; trying again', 1)
  taker.close()
  const moved = { ...serving, metricsUrl: `http://127.0.0.1:${metricsPort}` }
  await until(moved, '/readyz', (status) => status === 200)
  assert.equal(await serving.stop(), 0)
})

for (const [kind, startProxy] of [
  ['an HTTP proxy', startConnectProxy],
  ['a SOCKS5 proxy', startSocksProxy],
] as const) {
  test(`starts and serves where upstreams can be reached only through ${kind}`, async (t) => {
    const [vendor, proxy] = await Promise.all([startVendor(), startProxy('user:password')])
    t.after(() => Promise.all([vendor.close(), proxy.close()]))
    const [key = ''] = vendor.keys
    const serving = await serve({
      UPSTREAM_URL: vendor.url,
      UPSTREAM_KEY: key,
      UPSTREAM_PROXY: proxy.url,
      UPSTREAM_PROXY_LOGIN: 'user:password',
    })
    assert.equal(await ask(serving), 200)
    assert.deepEqual(proxy.tunnels, [new URL(vendor.url).host])
    assert.equal(await serving.stop(), 0)
  })
}
