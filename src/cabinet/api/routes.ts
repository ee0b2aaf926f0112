// The way of one request through /api: our own origin, the session, an allowance, a body that is
// what it should be, the subject's own work, and an answer of the contract's type. A route says who
// may come and what it reads; nothing here knows what any of them does.
import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { Accounts, Allowance, Session } from '../../accounts/accounts.ts'
import { OwnNo } from '../answers.ts'
import type { Routes } from '../contract/routes.ts'
import type { Part } from '../part.ts'

/** A form is a few hundred bytes, a pasted key 256 at most. */
const BODY_BYTES_MAX = 8 * 1024

/** Routes of the contract that answer JSON by themselves; the others have parts of their own. */
export type RouteName = Exclude<
  keyof Routes,
  `${string}/api/auth/${string}` | 'GET /api/live' | 'GET /api/statement'
>

type BodyOf<Name extends RouteName> = Routes[Name] extends { body: infer Body } ? Body : undefined
type QueryOf<Name extends RouteName> = Routes[Name] extends { query: infer Query } ? Query : object
type ParamsOf<Path extends string> = Path extends `${string}/:${infer Name}/${infer Rest}`
  ? Name | ParamsOf<`/${Rest}`>
  : Path extends `${string}/:${infer Name}`
    ? Name
    : never

export type Visit<Name extends RouteName> = {
  readonly params: Readonly<Record<ParamsOf<Name>, string>>
  readonly body: BodyOf<Name>
  readonly query: QueryOf<Name>
  readonly address: string
  /** A header of the answer. */
  header(name: string, value: string): void
}

type OwnVisit<Name extends RouteName> = Visit<Name> & { readonly session: Session }
type Answer<Name extends RouteName> = Promise<Routes[Name]['answer']>

type Reads<Name extends RouteName> = (Routes[Name] extends { body: object }
  ? { readonly body: z.ZodType<BodyOf<Name>> }
  : object) &
  (Routes[Name] extends { query: object }
    ? { readonly query: z.ZodType<QueryOf<Name>> }
    : object) & {
    /** So often per account, over all processes: where money, keys or letters move. */
    readonly allowance?: Allowance
  }

export type Route<Name extends RouteName> = Reads<Name> &
  (
    | { readonly session: 'none'; run(visit: Visit<Name>): Answer<Name> }
    | { readonly session: 'needed' | 'fresh'; run(visit: OwnVisit<Name>): Answer<Name> }
  )

/** What a subject gives: its routes, under the contract's own names. */
export type Table<Name extends RouteName> = { readonly [N in Name]: Route<N> }

/** A route after its types have done their work. */
type Plain = {
  readonly session: 'none' | 'needed' | 'fresh'
  readonly body?: z.ZodType
  readonly query?: z.ZodType
  readonly allowance?: Allowance
  run(visit: object): Promise<unknown>
}

export type OwnAccounts = Pick<
  Accounts,
  'session' | 'requireSession' | 'requireFresh' | 'isOwnOrigin' | 'attempt'
>

export function routesPart(accounts: OwnAccounts, table: Table<RouteName>): Part {
  async function sessionOf(request: FastifyRequest, isFresh: boolean): Promise<Session> {
    const session = await accounts.session(headersOf(request))
    return isFresh ? accounts.requireFresh(session) : accounts.requireSession(session)
  }

  return (app) => {
    // Only JSON: what a foreign page can send without asking first, such as a form, is not read.
    app.removeAllContentTypeParsers()
    const parse = app.getDefaultJsonParser('error', 'error')
    app.addContentTypeParser('application/json', { parseAs: 'string' }, parse)
    for (const [name, route] of Object.entries(table) as unknown as [string, Plain][]) {
      const [method = '', url = ''] = name.split(' ')
      app.route({
        method,
        url,
        bodyLimit: BODY_BYTES_MAX,
        // Before the body is read: a stranger's is not worth it.
        onRequest: async (request) => requireOwnOrigin(accounts, request),
        async handler(request, reply) {
          const visit = {
            params: request.params,
            address: request.address,
            header: (header: string, value: string) => void reply.header(header, value),
          }
          const read = () => ({
            body: route.body && readAs(route.body, request.body ?? null),
            query: route.query && readAs(route.query, request.query),
          })
          if (route.session === 'none') return route.run({ ...visit, ...read() })
          const session = await sessionOf(request, route.session === 'fresh')
          for (const cookie of session.cookies) reply.header('set-cookie', cookie)
          const own = { ...visit, ...read(), session }
          if (route.allowance !== undefined) {
            await requireAllowance(accounts, name, session, route.allowance)
          }
          return route.run(own)
        },
      })
    }
  }
}

/** Counts an attempt of the account at this route, and refuses one too many. */
export async function requireAllowance(
  accounts: Pick<Accounts, 'attempt'>,
  name: string,
  session: Session,
  allowance: Allowance,
): Promise<void> {
  const count = await accounts.attempt(session, name, allowance)
  if (count.isAllowed) return
  const { retryAfterSeconds } = count
  throw new OwnNo('attempts_exceeded', 'Too often; try again later.', { retryAfterSeconds })
}

/** Browsers name the origin of everything but a GET; what changes something must be our own. */
export function requireOwnOrigin(
  accounts: Pick<Accounts, 'isOwnOrigin'>,
  request: FastifyRequest,
): void {
  if (request.method === 'GET' || request.method === 'HEAD') return
  if (accounts.isOwnOrigin(headersOf(request))) return
  throw new OwnNo('origin_wrong', 'This request does not come from our own pages.')
}

/** What of the headers the accounts room reads. */
export function headersOf({ headers }: FastifyRequest): Headers {
  const sent = new Headers()
  for (const name of ['cookie', 'origin', 'sec-fetch-site', 'user-agent'] as const) {
    const value = headers[name]
    if (typeof value === 'string') sent.set(name, value)
  }
  return sent
}

/** What was sent, as the schema has it; refuses anything else. */
export function readAs<Value>(schema: z.ZodType<Value>, value: unknown): Value {
  const read = schema.safeParse(value)
  if (read.success) return read.data
  // Not zod's own sentence: it may quote what was sent, and that may be a key.
  const field = read.error.issues[0]?.path.join('.') ?? ''
  throw new OwnNo('field_invalid', 'A field is missing or not as expected.', { field })
}
