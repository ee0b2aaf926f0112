// The control API under /sim: what payers, banks and the provider's staff would do, the clock, the
// faults and the record. JSON in and out, no credentials, loopback only; the console's forms come
// here too and are sent back to the console.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { acts } from './acts.ts'
import { BankError } from './errors.ts'
import { readInput } from './input.ts'
import type { Parts } from './parts.ts'
import { views } from './views.ts'

export const controlPrefix = '/sim/'

type Arrived = { request: IncomingMessage; response: ServerResponse; url: URL; raw: string | null }

export async function control(arrived: Arrived, parts: Parts): Promise<void> {
  const { request, response } = arrived
  const type = request.headers['content-type'] ?? ''
  try {
    const answer = await act(arrived, type, parts)
    const isForm = request.method === 'POST' && type.startsWith('application/x-www-form')
    if (isForm) response.writeHead(303, { location: '/' }).end()
    else sendJson(response, 200, answer)
  } catch (error) {
    if (!(error instanceof BankError)) throw error
    sendJson(response, error.status, { error: error.message })
  }
}

async function act({ request, url, raw }: Arrived, type: string, parts: Parts): Promise<object> {
  const name = url.pathname.slice(controlPrefix.length)
  if (!isLoopback(request)) throw new BankError(403, 'loopback only')
  if (request.method === 'GET') {
    const view = Object.hasOwn(views, name) ? views[name] : undefined
    if (view === undefined) throw new BankError(404, `no view ${name}`)
    return view(parts, url.searchParams)
  }
  const verb = `${request.method} ${name}`
  const found = Object.hasOwn(acts, verb) ? acts[verb] : undefined
  if (found === undefined) throw new BankError(404, `no act ${verb}`)
  if (raw === null) throw new BankError(413, 'the body is too large')
  return found(readInput(type, raw), parts)
}

function sendJson(response: ServerResponse, status: number, answer: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
}

/** A client that can reach the payers' pages must not reach these control calls. */
export function isLoopback({ socket }: IncomingMessage): boolean {
  const address = socket.remoteAddress
  return address !== undefined && /^(?:::ffff:)?127\.|^::1$/.test(address)
}
