// Sends requests to one upstream that speaks the vendor's Messages API, over our own HTTP client
// (pool.ts). It adds our credential; the customer's key is never sent.
import type { Shares } from '../platform/shares.ts'
import { bytesTotal } from '../wire/edit.ts'
import { createPool } from './pool.ts'
import type { Call, ReplySink, UpstreamRequest } from './port.ts'

export type Transport = {
  /** Its connections, as accounts share them. */
  readonly shares: Shares
  send(credential: string, sending: UpstreamRequest, sink: ReplySink): Call
  close(): void
}

export function createTransport(options: {
  readonly url: string
  readonly connections: number
  readonly headersTimeoutMs: number
  readonly streamHeadersTimeoutMs: number
  readonly idleTimeoutMs: number
  readonly spanMs: () => number
  readonly waiting: Shares
}): Transport {
  const { host, pathname } = new URL(options.url)
  const prefix = pathname.replace(/\/$/, '')
  const pool = createPool(options)
  return {
    shares: pool.shares,
    send(credential, { book, holder, path, headers, body, isStream }, sink) {
      const bodyBytes = bytesTotal(body)
      let head = `POST ${prefix}${path} HTTP/1.1\r\nhost: ${host}\r\nx-api-key: ${credential}\r\n`
      for (let i = 0; i < headers.length; i += 2) head += `${headers[i]}: ${headers[i + 1]}\r\n`
      head += `content-length: ${bodyBytes}\r\n\r\n`
      const { streamHeadersTimeoutMs, headersTimeoutMs } = options
      return pool.send({
        book,
        holder,
        head,
        body,
        bodyBytes,
        headersTimeoutMs: isStream ? streamHeadersTimeoutMs : headersTimeoutMs,
        sink,
      })
    },
    close: () => pool.close(),
  }
}
