// The entry file: a server that imitates the payment provider, its bank and its staff. The shop
// reaches it by address only, payers open its pages, tests control it through /sim; product code
// never imports it.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { apiPrefix, serveApi } from './api.ts'
import { createCalls } from './calls.ts'
import { createClock } from './clock.ts'
import { showConsole } from './console.ts'
import { control, controlPrefix, isLoopback } from './control.ts'
import { createDeeds } from './deeds.ts'
import { createFaults } from './faults.ts'
import { createIdempotence } from './idempotence.ts'
import { createPages } from './pages.ts'
import type { Parts } from './parts.ts'
import { defaultSettings, type Settings } from './settings.ts'
import { createStore } from './store.ts'
import { createWebhooks } from './webhooks.ts'

export type BankOptions = {
  /** 0, the default, takes a free port. */
  readonly port?: number
  readonly host?: string
} & Partial<Settings>

export type Bank = {
  /** Where the server listens, without a slash at the end; the console is there. */
  readonly url: string
  /** The base address of the API. */
  readonly apiUrl: string
  /** The base address of the control calls. */
  readonly controlUrl: string
  readonly shopId: string
  readonly secretKey: string
  /** Closes every connection and stops. */
  close(): Promise<void>
}

// Far above any order with 80 receipt items.
const bodyBytesMax = 1024 * 1024

/** Starts listening before it resolves. */
export async function startBank(options: BankOptions = {}): Promise<Bank> {
  const { port = 0, host = '127.0.0.1', ...chosen } = options
  const settings: Settings = { ...defaultSettings, ...chosen }
  const clock = createClock()
  const store = createStore({ clock, settings })
  const parts: Parts = {
    clock,
    store,
    webhooks: createWebhooks({ store, clock }),
    faults: createFaults(),
    idempotence: createIdempotence(clock.now),
    calls: createCalls(clock.now),
  }
  const serve = createServe(parts)
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      console.error('bank stand-in:', error)
      response.destroy()
    })
  })
  server.keepAliveTimeout = 60_000
  // Hundreds of orders may be placed in one burst.
  server.listen({ port, host, backlog: 4096 })
  await once(server, 'listening')
  // Safe: a server that listens on a port has an address of this kind.
  const { address, port: taken, family } = server.address() as AddressInfo
  const url = `http://${family === 'IPv6' ? `[${address}]` : address}:${taken}`
  settings.publicUrl = settings.publicUrl.replace(/\/$/, '') || url
  return {
    url,
    apiUrl: `${url}/v3`,
    controlUrl: `${url}/sim`,
    shopId: settings.shopId,
    secretKey: settings.secretKey,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      clock.stop()
      parts.webhooks.close()
      await closed
    },
  }
}

function createServe(parts: Parts) {
  const deeds = createDeeds(parts)
  const pages = createPages(parts.store)

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    // The pages read their own forms.
    if (await pages(request, response)) return
    const url = URL.parse(`http://bank${request.url ?? '/'}`)
    const raw = await readText(request)
    if (raw === undefined) return
    if (url?.pathname.startsWith(apiPrefix)) {
      await serveApi({ request, response, url, raw }, parts, deeds)
    } else if (url?.pathname.startsWith(controlPrefix)) {
      await control({ request, response, url, raw }, parts)
    } else if (url?.pathname === '/' && request.method === 'GET' && isLoopback(request)) {
      showConsole(response, parts)
    } else {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('Not found\n')
    }
  }
}

/** Null when the body is too large, undefined when the client disconnected before its end. */
async function readText(request: IncomingMessage): Promise<string | null | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of request) {
      bytes += chunk.length
      if (bytes <= bodyBytesMax) chunks.push(chunk)
    }
  } catch (error) {
    if (request.errored !== null) return undefined
    throw error
  }
  return bytes > bodyBytesMax ? null : Buffer.concat(chunks).toString()
}
