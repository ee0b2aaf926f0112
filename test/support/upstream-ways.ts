// Ways from the gateway to an upstream on the loopback other than a direct plain connection: TLS
// through a CONNECT or a SOCKS5 proxy that asks for a login, HTTP/2, and TLS with a certificate of
// ours. Each trusts only the authority of the tests.
import { Masked } from '../../src/platform/masked.ts'
import type { UpstreamOptions } from '../../src/upstreams/upstreams.ts'
import { type Certificates, createCertificates } from './certificates.ts'
import { startConnectProxy, startSocksProxy } from './proxies.ts'
import { startTlsFront } from './tls-fronts.ts'

export const upstreamWays = ['connect', 'socks5', 'http2', 'mtls'] as const
export type UpstreamWay = (typeof upstreamWays)[number]

export type OpenWay = {
  /** What the upstream's configuration has in addition, and its address. */
  readonly options: Partial<UpstreamOptions> & { readonly url: string }
  close(): Promise<void>
}

const LOGIN = 'gateway:pass word'

export async function openWay(way: UpstreamWay, to: string): Promise<OpenWay> {
  const certificates = await createCertificates()
  const front = await startTlsFront(to, certificates, {
    isHttp2: way === 'http2',
    asksCertificate: way === 'mtls',
  })
  const proxy = await startProxy(way)
  return {
    options: {
      url: front.url,
      ca: certificates.ca,
      http2: way === 'http2',
      ...(proxy && { proxy: proxy.url, proxyLogin: new Masked(LOGIN) }),
      ...(way === 'mtls' ? clientOf(certificates) : {}),
    },
    async close() {
      await proxy?.close()
      await front.close()
      await certificates.remove()
    },
  }
}

function startProxy(way: UpstreamWay) {
  if (way === 'connect') return startConnectProxy(LOGIN)
  return way === 'socks5' ? startSocksProxy(LOGIN) : undefined
}

function clientOf({ client }: Certificates) {
  return { clientCertificate: client.cert, clientKey: new Masked(client.key) }
}
