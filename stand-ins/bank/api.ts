// The API under /v3: checks the credentials and the request, picks the fault that was ordered for
// the call, and runs the operation. A fault says whether the call fails before or after its effect.
import { timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, sendAnswer, sendFaulty } from './answer.ts'
import type { Asked, Deeds, Done } from './deeds.ts'
import { BankError } from './errors.ts'
import type { Fault } from './faults.ts'
import { isObject } from './json.ts'
import type { Parts } from './parts.ts'
import type { Settings } from './settings.ts'

export const apiPrefix = '/v3/'

type Arrived = { request: IncomingMessage; response: ServerResponse; url: URL; raw: string | null }

export async function serveApi(arrived: Arrived, parts: Parts, deeds: Deeds): Promise<void> {
  const { request, response, url, raw } = arrived
  const { method = '' } = request
  const path = url.pathname.slice(apiPrefix.length - 1)
  const body = readLoosely(raw)
  const orderId = orderOf(body, path, parts)
  const fault = parts.faults.take({ method, path, orderId })
  const call = parts.calls.begin({
    method,
    path: url.pathname + url.search,
    key: String(request.headers['idempotence-key'] ?? '') || null,
    orderId,
    body: raw ?? '',
    fault: fault === null ? null : `${fault.kind} ${fault.when}`,
  })
  const mayDo = fault === null || fault.when === 'after' || fault.kind === 'slow'
  if (fault?.when === 'before') await wait(fault)
  const answer = mayDo ? await answerOf({ ...arrived, path, body }, parts, deeds) : null
  if (fault?.when === 'after') await wait(fault)
  const status =
    fault === null || fault.kind === 'slow'
      ? sendAnswer(response, answer)
      : await sendFaulty(response, fault, answer)
  call.end(status)
}

async function wait({ delayMs = 0 }: Fault): Promise<void> {
  if (delayMs > 0) await sleep(delayMs, undefined, { ref: false })
}

type Known = Arrived & { path: string; body: unknown }

async function answerOf(known: Known, parts: Parts, deeds: Deeds): Promise<Answer> {
  try {
    const { answer, payment } = act(known, parts, deeds)
    // Send the early notice before the answer: the shop gets it before it knows the payment.
    if (payment !== null) await parts.webhooks.whenEarly(payment.id)
    return { status: 200, body: answer }
  } catch (error) {
    if (!(error instanceof BankError)) throw error
    return { status: error.status, body: error.body }
  }
}

function act(known: Known, parts: Parts, deeds: Deeds): Done {
  const { request, path, url } = known
  checkCredentials(request, parts.store.settings)
  const [, room = '', id = '', verb = '', rest] = path.split('/')
  const name = [room, id === '' ? '' : '{id}', verb].filter((part) => part !== '').join('/')
  const route = rest === undefined && Object.hasOwn(routes, name) ? routes[name] : undefined
  if (route === undefined) throw new BankError(404, 'Unknown resource')
  if (request.method === 'GET' && route.get !== undefined) {
    return { answer: route.get(deeds, { id, query: url.searchParams }), payment: null }
  }
  if (request.method !== 'POST' || route.post === undefined) throw new BankError(405)
  return route.post(deeds, { id, asked: readAsked(known) })
}

type Route = {
  get?: (deeds: Deeds, asked: { id: string; query: URLSearchParams }) => object
  post?: (deeds: Deeds, asked: { id: string; asked: Asked }) => Done
}

const routes: Readonly<Record<string, Route>> = {
  me: { get: (deeds) => deeds.getMe() },
  payments: {
    get: (deeds, { query }) => deeds.getPayments(query),
    post: (deeds, { asked }) => deeds.postPayment(asked),
  },
  'payments/{id}': { get: (deeds, { id }) => deeds.getPayment(id) },
  'payments/{id}/capture': { post: (deeds, { id, asked }) => deeds.postCapture(id, asked) },
  'payments/{id}/cancel': { post: (deeds, { id, asked }) => deeds.postCancel(id, asked) },
  refunds: {
    get: (deeds, { query }) => deeds.getRefunds(query),
    post: (deeds, { asked }) => deeds.postRefund(asked),
  },
  'refunds/{id}': { get: (deeds, { id }) => deeds.getRefund(id) },
  receipts: {
    get: (deeds, { query }) => deeds.getReceipts(query),
    post: (deeds, { asked }) => deeds.postReceipt(asked),
  },
  'receipts/{id}': { get: (deeds, { id }) => deeds.getReceipt(id) },
}

function checkCredentials({ headers }: IncomingMessage, { shopId, secretKey }: Settings): void {
  const given = /^Basic ([A-Za-z0-9+/=]+)$/.exec(headers.authorization ?? '')?.[1]
  const pair = Buffer.from(given ?? '', 'base64')
  const right = Buffer.from(`${shopId}:${secretKey}`)
  if (pair.length === right.length && timingSafeEqual(pair, right)) return
  throw new BankError(401, 'Error in shopId or secret key. Check their validity', {
    parameter: 'Authorization',
  })
}

/** The well-formed request of a POST. */
function readAsked({ request, path, raw, body }: Known): Asked {
  if (raw === null) throw new BankError(413)
  const type = request.headers['content-type'] ?? ''
  if (!/^application\/json(?:\s*;|$)/i.test(type)) throw new BankError(415)
  const key = String(request.headers['idempotence-key'] ?? '')
  if (!/^[0-9a-zA-Z+\-_.]{1,64}$/.test(key)) {
    const description = 'Idempotence-Key is required: 1 to 64 characters'
    throw new BankError(400, description, { parameter: 'Idempotence-Key' })
  }
  // A capture or a cancel needs no parameters, and then no body either.
  if (body === undefined && raw !== '') throw new BankError(400, 'The body is not JSON')
  return { key, path, body: body ?? {} }
}

function readLoosely(raw: string | null): unknown {
  try {
    return JSON.parse(raw ?? '')
  } catch {
    return undefined
  }
}

/** The order that a call concerns, as far as it can be told before the request is checked. */
function orderOf(body: unknown, path: string, { store }: Parts): string | null {
  const [, room, id = ''] = path.split('/')
  const isRefund = room === 'refunds'
  const named = isRefund && isObject(body) ? String(body.payment_id) : id
  const refunded = isRefund ? store.refunds.refund(id)?.payment_id : undefined
  const metadata =
    room === 'payments' && id === '' && isObject(body)
      ? body.metadata
      : store.payment(refunded ?? named)?.metadata
  return isObject(metadata) && typeof metadata.order_id === 'string' ? metadata.order_id : null
}
