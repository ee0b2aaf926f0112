// One upstream that speaks the vendor's Messages API, over our own small client (pool.ts). Our
// credential goes up, the customer's never does.
import { bytesTotal } from '../wire/edit.ts'
import { createPool } from './pool.ts'
import type { Call, Sending, Sink } from './port.ts'

export type Wire = {
  send(credential: string, sending: Sending, sink: Sink): Call
  close(): void
}

export function createMessagesWire(options: {
  readonly url: string
  readonly connections: number
  readonly headersTimeoutMs: number
  readonly streamHeadersTimeoutMs: number
  readonly idleTimeoutMs: number
  readonly spanMs: () => number
}): Wire {
  const { host, pathname } = new URL(options.url)
  const prefix = pathname.replace(/\/$/, '')
  const pool = createPool(options)
  return {
    send(credential, { path, headers, body, isStream }, sink) {
      const bodyBytes = bytesTotal(body)
      let head = `POST ${prefix}${path} HTTP/1.1\r\nhost: ${host}\r\nx-api-key: ${credential}\r\n`
      for (let i = 0; i < headers.length; i += 2) head += `${headers[i]}: ${headers[i + 1]}\r\n`
      head += `content-length: ${bodyBytes}\r\n\r\n`
      const { streamHeadersTimeoutMs, headersTimeoutMs } = options
      return pool.send({
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
