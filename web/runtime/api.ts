// Every call to the cabinet, typed by its contract: a route's name gives its parameters, its body
// and its answer. An answer that is not 2xx becomes an ApiRefusal, with a sentence in words/.
import type {
  AuthErrorCode,
  ErrorBody,
  ErrorCode,
  Proof,
} from '../../src/cabinet/contract/contract.ts'
import type { Routes } from '../../src/cabinet/contract/routes.ts'
import { takePrefetched } from './prefetch.ts'

export type Route = keyof Routes
export type AnswerOf<R extends Route> = Routes[R]['answer']

/** Codes of our own: nothing came back, or not what the contract says. */
export type Code = ErrorCode | AuthErrorCode | 'offline' | 'answer_unreadable'

type Names<Path extends string> = Path extends `${string}/:${infer Name}/${infer Rest}`
  ? Name | Names<`/${Rest}`>
  : Path extends `${string}/:${infer Name}`
    ? Name
    : never

/** The routes of a contract: the cabinet's or the console's. */
type RouteTypes<T> = Record<keyof T, { answer: unknown }>

type Part<Key extends string, Value> = [Value] extends [never] ? object : Record<Key, Value>
type Params<R extends string> = Part<
  'params',
  [Names<R>] extends [never] ? never : Record<Names<R>, string>
>
type Body<Types> = Types extends { body: infer B }
  ? object extends B
    ? object
    : { readonly body: B }
  : object
type QueryIn<Types> = Types extends { query: infer Q } ? Q : never
type Query<Types> = [QueryIn<Types>] extends [never] ? object : { readonly query?: QueryIn<Types> }
type OptionsOf<T, R extends keyof T & string> = Params<R> &
  Body<T[R]> &
  Query<T[R]> & { readonly signal?: AbortSignal }

export type QueryOf<R extends Route> = QueryIn<Routes[R]>
export type CallOptions<R extends Route> = OptionsOf<Routes, R>

/** `call` for the routes of one contract. */
export type Call<T extends RouteTypes<T>> = <R extends keyof T & string>(
  route: R,
  ...[options]: object extends OptionsOf<T, R> ? [OptionsOf<T, R>?] : [OptionsOf<T, R>]
) => Promise<T[R]['answer']>

/** An answer that is not 2xx, or none. The sentence for `code` is `errors.<code>` of the words. */
export class ApiRefusal extends Error {
  readonly code: Code
  readonly status: number
  readonly retryAfterSeconds: number | undefined
  readonly field: string | undefined
  /** Of `step_up_needed`: what the owner has to prove. */
  readonly needs: readonly Proof[]
  /** The server's own sentence, in English. */
  readonly sentence: string | undefined
  readonly requestId: string | undefined

  constructor(code: Code, status: number, body?: Partial<ErrorBody>) {
    super(code)
    this.name = 'ApiRefusal'
    this.code = code
    this.status = status
    this.retryAfterSeconds = body?.error?.retryAfterSeconds
    this.field = body?.error?.field
    this.needs = body?.error?.needs ?? []
    this.sentence = body?.error?.message
    this.requestId = body?.requestId
  }
}

export function isApiRefusal(error: unknown, ...codes: readonly Code[]): error is ApiRefusal {
  return error instanceof ApiRefusal && (codes.length === 0 || codes.includes(error.code))
}

/** The server cannot be reached, or says that it is away: asked a little later, it answers. */
export function isTransient(error: unknown): boolean {
  return isApiRefusal(error) && (error.code === 'offline' || error.status === 503)
}

/**
 * `await call('POST /api/orders/:id/check', { params: { id } })`. Throws ApiRefusal. A GET may be
 * repeated; the contract says what else may.
 */
// Safe as long as the server keeps the contract; the server's own tests check that.
export const call = send as Call<Routes>

/** Sends a request; `call` and the console's `call` give it the types of their contracts. */
export async function send(route: string, options: object = {}): Promise<unknown> {
  const { params, query, body, signal } = options as Loose
  if (local.read !== undefined) return local.read(route, options)
  const [method = 'GET', path = ''] = route.split(' ')
  const init: RequestInit = { method, credentials: 'same-origin', headers: { accept: JSON_TYPE } }
  if (signal !== undefined) init.signal = signal
  if (method !== 'GET') {
    init.headers = { accept: JSON_TYPE, 'content-type': JSON_TYPE }
    init.body = JSON.stringify(body ?? {})
  }
  const address = addressOf(path, params, query)
  const prefetched = method === 'GET' ? takePrefetched(address) : undefined
  const response = await (prefetched ?? fetch(address, init)).catch((error: unknown) => {
    if (signal?.aborted === true) throw error
    throw new ApiRefusal('offline', 0)
  })
  const answer = await readJson(response)
  if (response.ok && answer !== undefined) return answer
  const refused = answer as Partial<ErrorBody> | undefined
  throw new ApiRefusal(refused?.error?.code ?? 'answer_unreadable', response.status, refused)
}

/** Reads without a network; only for the server, which renders pages in the cabinet's process. */
type Read = (route: string, options: Loose) => Promise<unknown>
const local: { read?: Read } = {}

export function readFrom(read: Read): void {
  local.read = read
}

type Loose = {
  params?: Record<string, string>
  query?: Record<string, string | number | undefined>
  body?: object
  signal?: AbortSignal
}
const JSON_TYPE = 'application/json'

/** The address of a route, for downloads and live updates, which do not use `call`. */
export function addressOf(
  path: string,
  params: Loose['params'] = {},
  query: Loose['query'] = {},
): string {
  const filled = path.replace(/:(\w+)/g, (_all, name: string) =>
    encodeURIComponent(params[name] ?? ''),
  )
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.set(name, String(value))
  }
  return search.size === 0 ? filled : `${filled}?${search}`
}

async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json()
  } catch {
    // A proxy's error page, or a broken connection: the status alone does not make it an answer.
    return undefined
  }
}
