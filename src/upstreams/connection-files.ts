// Completes the configured upstreams with what their connections need from files: certificates and
// keys. Reports what cannot work, so that `serve` refuses to start instead of failing at its first
// request.
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { Masked } from '../platform/masked.ts'
import type { ConnectionOptions } from './transport/carrier.ts'

/** As configured: `none` and undefined mean the same, and files are given by their paths. */
type Given = {
  readonly proxy?: string | undefined
  readonly proxyLogin?: Masked<string> | undefined
  readonly ca?: string | undefined
  readonly clientCertificate?: string | undefined
  readonly clientKey?: string | undefined
  readonly http2?: boolean | undefined
}

type FromFiles = Pick<
  ConnectionOptions,
  'proxy' | 'proxyLogin' | 'ca' | 'clientCertificate' | 'clientKey'
>

export function readConnectionFiles(given: Given): {
  readonly connection: FromFiles
  readonly problems: readonly string[]
} {
  const problems: string[] = []
  const textOf = (path: string | undefined): string | undefined => {
    if (path === undefined) return undefined
    try {
      return readFileSync(path, 'utf8')
    } catch (error) {
      problems.push(`${path} cannot be read: ${(error as NodeJS.ErrnoException).code}`)
      return undefined
    }
  }
  const proxy = unlessNone(given.proxy)
  const ca = textOf(unlessNone(given.ca))
  const clientCertificate = textOf(unlessNone(given.clientCertificate))
  const key = textOf(unlessNone(given.clientKey))
  if (problems.length === 0) {
    if ((clientCertificate === undefined) !== (key === undefined)) {
      problems.push('clientCertificate and clientKey go together')
    } else problems.push(...unusable({ ca, cert: clientCertificate, key }))
  }
  if (given.http2 === true && proxy?.startsWith('socks5:') === true) {
    problems.push('http2 is not possible through a SOCKS5 proxy')
  }
  const proxyLogin = given.proxyLogin?.reveal() === 'none' ? undefined : given.proxyLogin
  const clientKey = key === undefined ? undefined : new Masked(key)
  return { connection: { proxy, proxyLogin, ca, clientCertificate, clientKey }, problems }
}

/** The same for all upstreams of a source, which the problems name. */
export function readAllConnectionFiles<One extends Given & { readonly name: string }>(
  source: string,
  upstreams: readonly One[],
):
  | { readonly upstreams: (Omit<One, keyof FromFiles> & FromFiles)[] }
  | { readonly problems: readonly string[] } {
  const read = upstreams.map((one) => ({ one, ...readConnectionFiles(one) }))
  const problems = read.flatMap(({ one, problems }) =>
    problems.map((problem) => `${source}: ${one.name}: ${problem}`),
  )
  if (problems.length > 0) return { problems }
  return { upstreams: read.map(({ one, connection }) => ({ ...one, ...connection })) }
}

function unlessNone(value: string | undefined): string | undefined {
  return value === 'none' ? undefined : value
}

/** OpenSSL's reason why these cannot be used. */
function unusable(pem: Record<'ca' | 'cert' | 'key', string | undefined>): string[] {
  try {
    createSecureContext(pem)
    return []
  } catch (error) {
    return [`the certificates or the key cannot be used: ${(error as Error).message}`]
  }
}
