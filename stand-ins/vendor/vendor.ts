// The entry file: a server that imitates the vendor's Messages API over real HTTP. Clients and the
// gateway reach it by address only; product code never imports it. This file has the routes, the
// order of the checks of a request, and the start and stop of the server.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib'
import { sendError, sendFault, sendJson } from './answer.ts'
import { type Bill, createBill } from './bill.ts'
import { createCache } from './cache.ts'
import { control, controlPrefix } from './control.ts'
import { readTurnsLoosely } from './conversation.ts'
import { VendorError } from './errors.ts'
import type { Exchange, Parts } from './exchange.ts'
import { readFaults } from './faults.ts'
import { createIds } from './ids.ts'
import { isObject } from './json.ts'
import { postCountTokens, postMessages } from './messages.ts'
import { createModels } from './models.ts'
import { createModes, type Mode } from './modes.ts'
import { openOutlet } from './outlet.ts'
import { type Counts, createRecord, type Received } from './record.ts'
import { lastUserText, splitWords, wordsIn } from './script.ts'
import { readVersion } from './version.ts'
import { createWheel } from './wheel.ts'

export type VendorOptions = {
  /** 0, the default, takes a free port. */
  readonly port?: number
  readonly host?: string
  /** The upstream keys that are accepted. */
  readonly keys?: readonly string[]
  /** The credential of the usage report; it is accepted for nothing else. */
  readonly reportKey?: string
  /** Model ids served beside the vendor's own. */
  readonly models?: readonly string[]
  /** Makes ids repeatable. */
  readonly seed?: string
  readonly requestsMax?: number
  readonly bodyBytesMax?: number
}

export type Vendor = {
  /** The base address, without a slash at the end. */
  readonly url: string
  readonly keys: readonly string[]
  /** What was received, oldest first. */
  readonly requests: readonly Received[]
  readonly counts: Counts
  /** What was billed, and a way to bill what no request used. */
  readonly bill: Pick<Bill, 'rows' | 'plant'>
  readonly reportKey: string
  /** Switches faults and replies for many requests; without arguments, off. */
  mode(...modes: readonly Mode[]): void
  /** Resolves once the record satisfies the check, rejects after the time limit. */
  until(check: (all: Received[]) => boolean, timeoutMs?: number): Promise<void>
  /** Deletes the record. */
  clear(): void
  /** Closes every connection and stops. */
  close(): Promise<void>
}

// Two, so that tests can use a pool of upstream keys.
export const defaultKeys = ['stand-in-key-1', 'stand-in-key-2'] as const

export const defaultReportKey = 'stand-in-report-key'

const reportPath = '/v1/organizations/usage_report/messages'

// The vendor's limit for a message request.
const requestBodyBytesMax = 32 * 1024 * 1024

// A load test fills the ring in seconds; 64 MiB keeps whole conversations of a normal test.
const defaults = { requestsMax: 10_000, bodyBytesMax: 64 * 1024 * 1024 }

/** Starts listening before it resolves. */
export async function startVendor(options: VendorOptions = {}): Promise<Vendor> {
  const parts: Parts = {
    keys: options.keys ?? defaultKeys,
    models: createModels(options.models),
    cache: createCache(),
    ids: createIds(options.seed),
    modes: createModes(),
    record: createRecord({ ...defaults, ...options }),
    wheel: createWheel(),
    bill: createBill(),
    reportKey: options.reportKey ?? defaultReportKey,
  }
  const server = createServer((request, response) => {
    serve(request, response, parts).catch((error: unknown) => {
      console.error('vendor stand-in:', error)
      response.destroy()
    })
  })
  // Tests need long uploads and long silences, so the client sets the limits.
  server.requestTimeout = 0
  server.keepAliveTimeout = 60_000
  // Thousands of streams may be opened in one burst; the default backlog of 511 drops some.
  server.listen({ port: options.port ?? 0, host: options.host ?? '127.0.0.1', backlog: 8192 })
  await once(server, 'listening')
  // Safe: a server that listens on a port has an address of this kind.
  const { address, port, family } = server.address() as AddressInfo
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    keys: parts.keys,
    bill: parts.bill,
    reportKey: parts.reportKey,
    get requests() {
      return parts.record.all()
    },
    get counts() {
      return parts.record.counts()
    },
    mode: parts.modes.set,
    until: parts.record.until,
    clear: parts.record.clear,
    async close() {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      parts.wheel.stop()
      await closed
    },
  }
}

async function serve(request: IncomingMessage, response: ServerResponse, parts: Parts) {
  if (request.url?.startsWith(controlPrefix)) return control(request, response, parts)
  const requestId = parts.ids.next('request')
  const received = parts.record.arrive(request, requestId)
  const raw = await readBytes(request)
  if (raw === null) return parts.record.end(received, 'aborted')
  parts.record.keepBody(received, raw)
  const url = new URL(request.url ?? '/', 'http://stand-in')
  const touch = parts.record.changed
  const bare = { request, received, requestId, url, touch, replyWords: null, faults: {} }
  const open = (faults: Exchange['faults']) =>
    openOutlet({ response, received, record: parts.record, faults, wheel: parts.wheel })
  let exchange: Exchange | null = null
  try {
    const key = readKey(request, url.pathname, parts)
    const body = readJson(request, raw)
    const orders = readOrders(request, { body, key, path: url.pathname }, parts)
    exchange = { ...bare, ...orders, body, key, outlet: open(orders.faults) }
    if (!(await sendFault(exchange))) await route(exchange, parts)
  } catch (error) {
    if (!(error instanceof VendorError)) throw error
    exchange ??= { ...bare, body: undefined, key: null, outlet: open({}) }
    await sendError(exchange, error)
  }
}

async function route(exchange: Exchange, parts: Parts): Promise<void> {
  const { request, url } = exchange
  const { method = '' } = request
  const path = url.pathname
  if (path === '/v1/messages' || path === '/v1/messages/count_tokens') {
    if (method !== 'POST') throw new VendorError(405)
    await (path === '/v1/messages' ? postMessages : postCountTokens)(exchange, parts)
  } else if (path === '/v1/models' || path.startsWith('/v1/models/')) {
    if (method !== 'GET') throw new VendorError(405)
    readVersion(request.headers['anthropic-version'])
    const id = path.slice('/v1/models/'.length)
    const found = id === '' ? parts.models.page(url.searchParams) : parts.models.one(id)
    await sendJson(exchange, 200, found)
  } else if (path === reportPath) {
    if (method !== 'GET') throw new VendorError(405)
    await sendJson(exchange, 200, parts.bill.report(url.searchParams))
  } else if (path === '/api/hello') {
    // Agents use it without a key to open their connection early.
    await sendJson(exchange, 200, {})
  } else {
    throw new VendorError(404)
  }
}

/** The accepted key; 401 otherwise. `x-api-key` comes first, and an empty one counts as absent. */
function readKey(
  request: IncomingMessage,
  path: string,
  { keys: own, reportKey }: Parts,
): string | null {
  if (path === '/api/hello') return null
  const keys = path === reportPath ? [reportKey] : own
  const plain = String(request.headers['x-api-key'] ?? '').trim()
  const bearer = /^bearer\s+(.+)$/i.exec(request.headers.authorization ?? '')?.[1]?.trim()
  const key = plain === '' ? bearer : plain
  if (key === undefined) throw new VendorError(401, 'x-api-key header is required')
  if (keys.includes(key)) return key
  throw new VendorError(401, plain === '' ? 'Invalid bearer token' : 'invalid x-api-key')
}

/** Faults add up: mode, then text, then header. Reply words replace each other in that order. */
function readOrders(
  { headers }: IncomingMessage,
  { body, key, path }: { body: unknown; key: string | null; path: string },
  parts: Parts,
) {
  const text = lastUserText(readTurnsLoosely(body))
  const model = isObject(body) ? body.model : undefined
  const mode = parts.modes.take({ key: key ?? '', path, model })
  const faultHeader = headers['x-stand-in-fault']
  const replyHeader = headers['x-stand-in']
  const faultWords = [
    ...splitWords(mode.fault ?? ''),
    ...(wordsIn(text, 'fault') ?? []),
    ...splitWords(String(faultHeader ?? '')),
  ]
  const modeWords = mode.reply === undefined ? null : splitWords(mode.reply)
  return {
    faults: readFaults(faultWords),
    replyWords:
      replyHeader === undefined
        ? (wordsIn(text, 'reply') ?? modeWords)
        : splitWords(String(replyHeader)),
  }
}

/**
 * The whole body; null when the client disconnected before its end. Bytes above the limit are
 * discarded.
 */
async function readBytes(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of request) {
      bytes += chunk.length
      // Keeps one byte over the limit, so that the size shows the excess.
      if (bytes <= requestBodyBytesMax + chunk.length) chunks.push(chunk)
    }
  } catch (error) {
    if (request.errored !== null) return null
    throw error
  }
  return Buffer.concat(chunks)
}

const decoders: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  identity: (bytes) => bytes,
  gzip: gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
}

function readJson(request: IncomingMessage, raw: Buffer): unknown {
  if (raw.length > requestBodyBytesMax) throw new VendorError(413)
  const encoding = request.headers['content-encoding'] ?? 'identity'
  const decode = decoders[encoding]
  if (decode === undefined) {
    const code = 'request_body_encoding_unsupported'
    throw new VendorError(400, `Content-Encoding ${encoding} is not supported`, { code })
  }
  try {
    return JSON.parse(decode(raw).toString())
  } catch {
    return undefined
  }
}
