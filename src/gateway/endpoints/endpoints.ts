// The endpoints of /v1 and their paths: which handler answers a request, and under which label it
// is counted.
import { Refusal } from '../../platform/refusal.ts'
import type { Exchange } from '../exchange.ts'
import { postMessages } from '../messages.ts'
import type { Rooms } from '../rooms.ts'
import { postCountTokens } from './count.ts'
import { getMe } from './me.ts'
import { getModel, getModels } from './models.ts'
import { getOpenapi } from './openapi.ts'

type Route = {
  readonly method: 'GET' | 'POST' | 'HEAD'
  readonly path: string
  readonly handler: (exchange: Exchange, rooms: Rooms) => Promise<void>
}

/** Paths are written without the /v1 they may carry. */
export const routes: readonly Route[] = [
  { method: 'POST', path: '/messages', handler: postMessages },
  { method: 'POST', path: '/messages/count_tokens', handler: postCountTokens },
  { method: 'GET', path: '/models', handler: getModels },
  { method: 'GET', path: '/me', handler: getMe },
  { method: 'HEAD', path: '/api/hello', handler: hello },
  { method: 'GET', path: '/api/hello', handler: hello },
  { method: 'GET', path: '/openapi.json', handler: getOpenapi },
]

/** What nearly every client sends, without looking at it any closer: 2 us less. */
const plainPaths: ReadonlyMap<string, string> = new Map(
  routes.flatMap(({ path }) =>
    ['', '/v1'].flatMap((prefix) =>
      ['', '?beta=true'].map((query) => [`${prefix}${path}${query}`, path]),
    ),
  ),
)

export function route(exchange: Exchange, rooms: Rooms): Promise<void> {
  const { method } = exchange.incoming
  const path = pathOf(exchange.incoming.url)
  const found = routes.find((one) => one.path === path && one.method === method)
  if (found !== undefined) return found.handler(exchange, rooms)
  const here = routes.filter((one) => one.path === path)
  const model = /^\/models\/([^/]+)$/.exec(path)?.[1]
  if (model !== undefined && method === 'GET') {
    return getModel(exchange, rooms, decoded(model))
  }
  if (here.length === 0 && model === undefined) {
    throw new Refusal('path_unknown', `${method} ${path}: there is no such path`)
  }
  const allowed = model === undefined ? here.map((one) => one.method).join(', ') : 'GET'
  exchange.outgoing.setHeader('allow', allowed)
  throw new Refusal('method_wrong', `${method} is not allowed here; use ${allowed}`)
}

// Some clients append /v1/messages to the base address, others only /messages, and people put /v1
// into the base address of both kinds.
export function pathOf(url: string): string {
  const known = plainPaths.get(url)
  if (known !== undefined) return known
  const path = (url.split('?', 1)[0] as string).replace(/\/{2,}/g, '/').replace(/(.)\/$/, '$1')
  return path.replace(/^(?:\/v1){1,2}(?=\/)/, '')
}

/** A path as a label: few values, whatever clients ask for. */
export function labelOf(path: string): string {
  if (routes.some((one) => one.path === path)) return path
  return path.startsWith('/models/') ? '/models/{id}' : 'other'
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text // not an id of ours either way
  }
}

/** Agents warm their connection up with it. */
async function hello({ outgoing, requestId }: Exchange): Promise<void> {
  outgoing.begin(200, { 'content-length': 0, 'request-id': requestId })
  outgoing.end()
}
