// Reads what a connection to an upstream needs from files: certificates and keys. Reports what
// cannot work, so that `serve` refuses to start instead of failing at its first request.
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { Masked } from '../platform/masked.ts'
import type { ConnectionOptions } from './transport/carrier.ts'

export type ConnectionPaths = {
  readonly proxy?: string | undefined
  readonly http2?: boolean | undefined
  /** Paths of PEM files. */
  readonly ca?: string | undefined
  readonly clientCertificate?: string | undefined
  readonly clientKey?: string | undefined
}

type ConnectionTexts = Pick<ConnectionOptions, 'ca' | 'clientCertificate' | 'clientKey'>

export function readConnectionFiles(paths: ConnectionPaths): {
  readonly texts: ConnectionTexts
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
  const [ca, clientCertificate, key] = [
    textOf(paths.ca),
    textOf(paths.clientCertificate),
    textOf(paths.clientKey),
  ]
  if ((paths.clientCertificate === undefined) !== (paths.clientKey === undefined)) {
    problems.push('clientCertificate and clientKey go together')
  }
  if (paths.http2 === true && paths.proxy?.startsWith('socks5:') === true) {
    problems.push('http2 is not possible through a SOCKS5 proxy')
  }
  if (problems.length === 0) problems.push(...unusable({ ca, cert: clientCertificate, key }))
  const clientKey = key === undefined ? undefined : new Masked(key)
  return { texts: { ca, clientCertificate, clientKey }, problems }
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
