// Cross-origin requests: the pages of our own cabinet may send a message to the API, with the key
// that the browser has stored. No other site may read an answer, and no other endpoint is open.
// Requests without an Origin header, which is all that programs send, are not affected.
import type { Exchange } from './exchange.ts'

/** What the pages read of an answer, besides its body. */
const EXPOSED = 'request-id, retry-after, x-credit-charged, x-credit-balance'
/** What they send. No cookie: the API has none, and the answer does not allow credentials. */
const ALLOWED = 'content-type, x-api-key'
/** Browsers ask again after this time; the answer changes only with the configuration. */
const PREFLIGHT_SECONDS = '600'

/**
 * Adds the headers that let the cabinet read the answer. Returns true when the request was a
 * preflight of the cabinet's, which is then answered. A request of another origin gets the answer
 * of every client, which its browser does not show to the page.
 */
export function allowCabinet(
  { clientRequest, clientReply, requestId }: Exchange,
  path: string,
  cabinetOrigin: string,
): boolean {
  const { headers, method } = clientRequest
  if (headers.origin !== cabinetOrigin || path !== '/messages') return false
  clientReply.setHeader('access-control-allow-origin', cabinetOrigin)
  clientReply.setHeader('vary', 'origin')
  if (method !== 'OPTIONS' || headers['access-control-request-method'] !== 'POST') {
    clientReply.setHeader('access-control-expose-headers', EXPOSED)
    return false
  }
  clientReply.begin(204, {
    'access-control-allow-methods': 'POST',
    'access-control-allow-headers': ALLOWED,
    'access-control-max-age': PREFLIGHT_SECONDS,
    'request-id': requestId,
  })
  clientReply.end()
  return true
}
