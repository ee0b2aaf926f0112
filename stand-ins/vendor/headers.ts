// The headers that the vendor sends with an answer: its request id, the rate limits and names of
// the account behind the key, and what its edge adds. A relay must hide most of them from its
// clients; the figures are constant and not enforced.
import { hash } from 'node:crypto'

const limits = [
  ['requests', 4000],
  ['tokens', 4_800_000],
  ['input-tokens', 4_000_000],
  ['output-tokens', 800_000],
] as const

/** One set per answer; without a key, only what the edge adds. */
export function vendorHeaders(requestId: string, key: string | null): Record<string, string> {
  const headers: Record<string, string> = {
    'request-id': requestId,
    'strict-transport-security': 'max-age=31536000; includeSubDomains; preload',
    'x-robots-tag': 'none',
    via: '1.1 stand-in',
    server: 'cloudflare',
    'cf-cache-status': 'DYNAMIC',
    'cf-ray': `${requestId.slice(7, 23).toLowerCase()}-ARN`,
    'set-cookie': '_cfuvid=stand-in; HttpOnly; Secure; Path=/',
  }
  if (key === null) return headers
  const reset = new Date(Math.ceil(Date.now() / 60_000) * 60_000).toISOString()
  for (const [name, limit] of limits) {
    headers[`anthropic-ratelimit-${name}-limit`] = String(limit)
    headers[`anthropic-ratelimit-${name}-remaining`] = String(limit - 1)
    headers[`anthropic-ratelimit-${name}-reset`] = reset.replace('.000Z', 'Z')
  }
  headers['anthropic-organization-id'] = organizationOf(key)
  headers['anthropic-workspace-id'] = `wrkspc_01${hash('sha1', key, 'hex').slice(0, 22)}`
  headers['x-envoy-upstream-service-time'] = '12'
  return headers
}

function organizationOf(key: string): string {
  const hex = hash('sha256', key, 'hex')
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20, 32),
  ].join('-')
}
