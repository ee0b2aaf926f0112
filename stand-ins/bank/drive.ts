// A driver for tests: the shop's calls with credentials and keys, the control calls, and a receiver
// of notices whose answers the test chooses.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Bank } from './bank.ts'
import { isObject, type JsonObject } from './json.ts'
import type { PaymentObject, RefundObject } from './objects.ts'
import type { Delivery } from './webhooks.ts'

export type Called = { status: number; text: string; body: JsonObject; headers: Headers }

type Ask = { key?: string; headers?: Record<string, string>; signal?: AbortSignal }

export function drive(bank: Bank) {
  const credentials = Buffer.from(`${bank.shopId}:${bank.secretKey}`).toString('base64')

  async function call(method: string, path: string, body?: unknown, ask: Ask = {}) {
    const response = await fetch(bank.apiUrl + path, {
      method,
      headers: {
        authorization: `Basic ${credentials}`,
        ...(method === 'POST'
          ? { 'content-type': 'application/json', 'idempotence-key': ask.key ?? randomUUID() }
          : {}),
        ...ask.headers,
      },
      ...(body === undefined
        ? {}
        : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(ask.signal === undefined ? {} : { signal: ask.signal }),
    })
    const text = await response.text()
    return { status: response.status, text, body: readBody(text), headers: response.headers }
  }

  async function sim(act: string, body: unknown = {}, method = 'POST'): Promise<JsonObject> {
    const response = await fetch(`${bank.controlUrl}/${act}`, {
      method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const text = await response.text()
    assert.equal(response.status, 200, `${act}: ${text}`)
    return readBody(text)
  }

  async function see(view: string): Promise<JsonObject> {
    const response = await fetch(`${bank.controlUrl}/${view}`)
    assert.equal(response.status, 200)
    return readBody(await response.text())
  }

  return {
    call,
    sim,
    see,
    get: (path: string) => call('GET', path),
    post: (path: string, body?: unknown, ask?: Ask) => call('POST', path, body, ask),

    /** Creates a payment of the usual kind; the given members replace its own. */
    async pay(members: JsonObject = {}, ask?: Ask): Promise<PaymentObject> {
      const made = await call('POST', '/payments', orderOf(members), ask)
      assert.equal(made.status, 200, made.text)
      // Safe for a test: a wrong shape fails where its members are read.
      return made.body as unknown as PaymentObject
    },

    async refund(paymentId: string, value: string, ask?: Ask): Promise<RefundObject> {
      const body = { payment_id: paymentId, amount: { value, currency: 'RUB' } }
      const made = await call('POST', '/refunds', body, ask)
      assert.equal(made.status, 200, made.text)
      // Safe for a test, as above.
      return made.body as unknown as RefundObject
    },

    async deliveries(query = ''): Promise<Delivery[]> {
      await sim('settle')
      const { deliveries } = await see(`deliveries${query}`)
      return deliveries as Delivery[]
    },
  }
}

export type Driver = ReturnType<typeof drive>

export function orderOf(members: JsonObject = {}): JsonObject {
  return {
    amount: { value: '1300.00', currency: 'RUB' },
    capture: true,
    confirmation: { type: 'redirect', return_url: 'https://shop.example/back' },
    ...members,
  }
}

function readBody(text: string): JsonObject {
  try {
    const body: unknown = JSON.parse(text)
    return isObject(body) ? body : {}
  } catch {
    return {}
  }
}

export type Heard = { headers: IncomingHttpHeaders; text: string; body: JsonObject }

/** Listens for notices; `answer` decides what each gets, 200 by default. */
export async function startReceiver() {
  const heard: Heard[] = []
  const control = { answer: (_heard: Heard): number | Promise<number> => 200 }
  const server = createServer(async (request, response) => {
    const text = Buffer.concat(await Array.fromAsync(request)).toString()
    const one = { headers: request.headers, text, body: readBody(text) }
    heard.push(one)
    response.writeHead(await control.answer(one)).end('noted')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // Safe: a server that listens on a port has an address of this kind.
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/hook`,
    heard,
    control,
    events: () => heard.map(({ body }) => body.event),
    forget(): void {
      heard.length = 0
      control.answer = () => 200
    },
    async close(): Promise<void> {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>
