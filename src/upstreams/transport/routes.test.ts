// The ways to an upstream: TLS with a private authority, with a certificate of ours, HTTP/2, and
// through proxies with and without a login. Real servers on the loopback.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Certificates, createCertificates } from '../../../test/support/certificates.ts'
import { startConnectProxy, startSocksProxy } from '../../../test/support/proxies.ts'
import { startTlsFront } from '../../../test/support/tls-fronts.ts'
import {
  closePeers,
  OK,
  type Peer,
  startPeer,
  transportTo,
} from '../../../test/support/transport-peer.ts'
import { Masked } from '../../platform/masked.ts'
import { readConnectionFiles } from '../connection-files.ts'
import { LostReply } from '../port.ts'
import type { TransportOptions } from './transport.ts'

const at = {
  certificates: undefined as unknown as Certificates,
  peer: undefined as unknown as Peer,
}
before(async () => {
  at.certificates = await createCertificates()
  at.peer = await startPeer((socket) => socket.write(OK))
})
after(async () => {
  closePeers()
  await at.certificates.remove()
})

const real = { spanMs: () => performance.now(), connectTimeoutMs: 1_000 }

type Way = {
  readonly url: string
  readonly options?: Partial<TransportOptions>
}

/** Sends two requests one after the other; returns how they went. */
async function twice({ url, options }: Way): Promise<string[]> {
  const { ask } = transportTo(0, 'direct', { url, ...real, ...options })
  const outcomes: string[] = []
  for (const name of ['a', 'b']) {
    const { status, body } = await ask(name).over
    outcomes.push(`${status} ${body}`)
  }
  return outcomes
}

async function failure({ url, options }: Way): Promise<Error> {
  const { ask } = transportTo(0, 'direct', { url, ...real, ...options })
  return ask('a').over.then(
    () => assert.fail('the request was expected to fail'),
    (error: Error) => error,
  )
}

const served = ['200 ok', '200 ok']
const plainUrl = () => `http://127.0.0.1:${at.peer.port}`

for (const http2 of [false, true]) {
  describe(http2 ? 'HTTP/2' : 'TLS', () => {
    const front = (asksCertificate = false) =>
      startTlsFront(plainUrl(), at.certificates, { isHttp2: http2, asksCertificate })

    test('trusts the configured authority, and no other', async () => {
      const { url, close } = await front()
      assert.deepEqual(await twice({ url, options: { http2, ca: at.certificates.ca } }), served)
      const error = await failure({ url, options: { http2 } })
      assert.match(String((error as NodeJS.ErrnoException).code), /CERT|VERIFY|ISSUER/)
      await close()
    })

    test('shows its certificate to an upstream that asks for one', async () => {
      const { url, close } = await front(true)
      const { ca, client } = at.certificates
      const options = {
        http2,
        ca,
        clientCertificate: client.cert,
        clientKey: new Masked(client.key),
      }
      assert.deepEqual(await twice({ url, options }), served)
      await failure({ url, options: { http2, ca } })
      await close()
    })
  })
}

test('an upstream that knows no HTTP/2 is asked over HTTP/1.1', async () => {
  const { url, close } = await startTlsFront(plainUrl(), at.certificates)
  const options = { http2: true, ca: at.certificates.ca }
  assert.deepEqual(await twice({ url, options }), served)
  await close()
})

for (const [kind, start] of [
  ['CONNECT', startConnectProxy],
  ['SOCKS5', startSocksProxy],
] as const) {
  describe(`through a ${kind} proxy`, () => {
    test('http:// and https:// both go through a tunnel', async () => {
      const proxy = await start()
      const front = await startTlsFront(plainUrl(), at.certificates)
      const options = { proxy: proxy.url, ca: at.certificates.ca }
      assert.deepEqual(await twice({ url: front.url, options }), served)
      assert.deepEqual(await twice({ url: plainUrl(), options }), served)
      const ports = [new URL(front.url).port, String(at.peer.port)]
      assert.deepEqual(
        [...new Set(proxy.tunnels)].map((one) => one.split(':')[1]),
        ports,
      )
      await front.close()
      await proxy.close()
    })

    test('sends the login; without the right one it fails before the request is sent', async () => {
      const proxy = await start('user:pass:word')
      const asked = at.peer.asked.length
      const way = (login: string) => ({
        url: plainUrl(),
        options: { proxy: proxy.url, proxyLogin: new Masked(login) },
      })
      const error = await failure(way('user:wrong'))
      assert.ok(!(error instanceof LostReply), String(error))
      assert.equal(at.peer.asked.length, asked)
      assert.deepEqual(await twice(way('user:pass:word')), served)
      await proxy.close()
    })

    test('a proxy that is away is no lost reply', async () => {
      const proxy = await start()
      await proxy.close()
      const error = await failure({ url: plainUrl(), options: { proxy: proxy.url } })
      assert.ok(!(error instanceof LostReply), String(error))
    })
  })
}

test('HTTP/2 through a CONNECT proxy', async () => {
  const proxy = await startConnectProxy()
  const front = await startTlsFront(plainUrl(), at.certificates, { isHttp2: true })
  const options = { http2: true, proxy: proxy.url, ca: at.certificates.ca }
  assert.deepEqual(await twice({ url: front.url, options }), served)
  assert.equal(proxy.tunnels.length, 1)
  await front.close()
  await proxy.close()
})

test('what a connection needs is read from files, and what cannot work is reported', () => {
  const { file, client, ca } = at.certificates
  const [clientCertificate, clientKey] = [file('client.pem'), file('client.key')]
  const read = readConnectionFiles({ ca: file('ca.pem'), clientCertificate, clientKey })
  assert.deepEqual(read.problems, [])
  assert.deepEqual(
    [read.connection.ca, read.connection.clientCertificate, read.connection.clientKey?.reveal()],
    [ca, client.cert, client.key],
  )
  const problems = (paths: Parameters<typeof readConnectionFiles>[0]) =>
    readConnectionFiles(paths).problems.join('; ')
  assert.match(problems({ ca: file('absent.pem') }), /absent\.pem cannot be read: ENOENT/)
  assert.match(problems({ clientCertificate }), /go together/)
  assert.match(problems({ clientCertificate, clientKey: file('server.key') }), /cannot be used/)
  assert.match(problems({ proxy: 'socks5://a:1', http2: true }), /not possible/)
})
