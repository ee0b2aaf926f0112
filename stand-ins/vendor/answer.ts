// Sends each kind of answer: a JSON body, an error, a stream of events, or the wrong answer of a
// fault. The timing of streams is here; bytes and their faults are in outlet.ts.
import { errorBody, VendorError } from './errors.ts'
import type { Exchange } from './exchange.ts'
import type { Faults } from './faults.ts'
import { vendorHeaders } from './headers.ts'
import { ping, type StreamEvent } from './stream.ts'

// Events are joined up to this size when no fault needs them one by one.
const batchChars = 65_536

// With these faults, the time or the place of each single event matters.
const oneByOne = [
  'pace-ms',
  'silence-after',
  'ping-ms',
  'gzip',
  'chunk',
  'reset-at',
  'fin-at',
  'end-at',
] as const

const html =
  '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway' +
  '</h1></center>\r\n<hr><center>cloudflare</center>\r\n</body>\r\n</html>\r\n'

export async function sendJson(
  exchange: Exchange,
  status: number,
  body: object,
  headers: Record<string, string> = {},
): Promise<void> {
  await sendText(exchange, status, JSON.stringify(body), {
    'content-type': 'application/json',
    ...headers,
  })
}

async function sendText(
  { outlet, requestId, key }: Exchange,
  status: number,
  text: string,
  headers: Record<string, string>,
): Promise<void> {
  const bytes = Buffer.from(text)
  outlet.head(status, { ...vendorHeaders(requestId, key), ...headers }, bytes.length)
  await outlet.end(bytes)
}

export async function sendError(exchange: Exchange, error: VendorError): Promise<void> {
  const { faults, requestId } = exchange
  const waits = ['retry-after', 'retry-after-ms'] as const
  const headers: Record<string, string> = {}
  for (const name of waits) {
    const value = faults[name]
    if (value !== undefined) headers[name] = value
  }
  if (faults['should-retry'] !== undefined) headers['x-should-retry'] = faults['should-retry']
  await sendJson(exchange, error.status, errorBody(error, requestId), headers)
}

/** Applies the faults that come before or instead of a reply; true when the answer is complete. */
export async function sendFault(exchange: Exchange): Promise<boolean> {
  const { faults, outlet, key } = exchange
  if (faults.drop) {
    await outlet.drop()
    return true
  }
  if (faults['headers-ms'] !== undefined) await outlet.pause(faults['headers-ms'])
  if (outlet.isOver()) return true
  if (faults.html) {
    await sendText(exchange, faults.status ?? 502, html, { 'content-type': 'text/html' })
  } else if (faults.empty) {
    await sendText(exchange, faults.status ?? 200, '', { 'content-type': 'application/json' })
  } else if (faults['echo-key']) {
    await sendError(exchange, new VendorError(faults.status ?? 401, `invalid x-api-key: ${key}`))
  } else if (faults.status !== undefined && faults['error-after'] === undefined) {
    const type = faults['error-type']
    const more = type === undefined ? {} : { type }
    await sendError(exchange, new VendorError(faults.status, faults.message, more))
  } else {
    return false
  }
  return true
}

export async function sendEvents(exchange: Exchange, events: Iterable<StreamEvent>): Promise<void> {
  const { outlet, requestId, key, faults } = exchange
  const headers = {
    ...vendorHeaders(requestId, key),
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
  }
  outlet.head(200, headers, null)
  const isSpecial = oneByOne.some((name) => faults[name] !== undefined)
  await (isSpecial ? sendOneByOne : sendInBatches)(exchange, events)
}

async function sendInBatches(exchange: Exchange, events: Iterable<StreamEvent>): Promise<void> {
  const { outlet, received, faults } = exchange
  const encode = createEncoder(faults)
  let batch = ''
  let count = 0
  let isStopIn = false
  for (const event of events) {
    batch += encode(event)
    count += 1
    isStopIn = event.type === 'message_stop'
    if (batch.length < batchChars || isStopIn) continue
    await outlet.write(Buffer.from(batch))
    if (outlet.isOver()) return
    received.events += count
    batch = ''
    count = 0
  }
  if (outlet.isOver()) return
  await outlet.end(Buffer.from(batch))
  received.events += count
  received.isMessageStopSent = isStopIn
}

async function sendOneByOne(exchange: Exchange, events: Iterable<StreamEvent>): Promise<void> {
  const { outlet, received, faults } = exchange
  const encode = createEncoder(faults)
  const quiet = createQuiet(exchange, encode)
  let count = 0
  for (const event of events) {
    if (count === faults['silence-after'])
      await quiet(faults['silence-ms'] ?? Number.POSITIVE_INFINITY)
    else if (count > 0 && faults['pace-ms'] !== undefined) await quiet(faults['pace-ms'])
    if (outlet.isOver()) return
    await outlet.write(Buffer.from(encode(event)))
    if (outlet.isOver()) return
    count += 1
    received.events += 1
    received.isMessageStopSent = event.type === 'message_stop'
    exchange.touch()
  }
  await outlet.end(Buffer.alloc(0))
}

/** Waits, sending pings whenever their interval passes. */
function createQuiet({ outlet, faults }: Exchange, encode: (event: StreamEvent) => string) {
  const pingMs = faults['ping-ms'] ?? Number.POSITIVE_INFINITY
  let untilPingMs = pingMs
  return async (ms: number): Promise<void> => {
    let leftMs = ms
    while (untilPingMs <= leftMs && Number.isFinite(untilPingMs)) {
      await outlet.pause(untilPingMs)
      if (outlet.isOver()) return
      await outlet.write(Buffer.from(encode(ping)))
      leftMs -= untilPingMs
      untilPingMs = pingMs
    }
    await outlet.pause(leftMs)
    untilPingMs -= leftMs
  }
}

/** One event as its record: `event:` and `data:` lines and an empty one. */
function createEncoder(faults: Faults): (event: StreamEvent) => string {
  const end = faults.crlf ? '\r\n' : '\n'
  return (event) => {
    const comment = faults.comments ? `: stand-in comment${end}${end}` : ''
    const name = faults['no-event-line'] ? '' : `event: ${event.type}${end}`
    return `${comment}${name}data: ${JSON.stringify(event)}${end}${end}`
  }
}
