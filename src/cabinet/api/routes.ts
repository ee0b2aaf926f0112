// Handles one request to /api: checks origin, session, allowance and input, runs the route, and
// sends an answer of the contract's type. A route declares the session it requires, its
// action and its input.
import type { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { Accounts, Action, Allowance, Session } from '../../accounts/accounts.ts'
import { acceptOnlyJson, readInput } from '../../platform/server/input.ts'
import type { Plugin } from '../../platform/server/plugin.ts'
import type { Routes } from '../contract/routes.ts'
import { CabinetRefusal } from '../refusals.ts'

/** A form is a few hundred bytes, a pasted key 256 at most. */
const BODY_BYTES_MAX = 8 * 1024

/** Routes of the contract that answer JSON; the others have plugins of their own. */
export type RouteName = Exclude<
  keyof Routes,
  `${string}/api/auth/${string}` | 'GET /api/live' | 'GET /api/statement' | 'GET /api/usage/file'
>

type BodyOf<Name extends RouteName> = Routes[Name] extends { body: infer Body } ? Body : undefined
type QueryOf<Name extends RouteName> = Routes[Name] extends { query: infer Query } ? Query : object
type ParamsOf<Path extends string> = Path extends `${string}/:${infer Name}/${infer Rest}`
  ? Name | ParamsOf<`/${Rest}`>
  : Path extends `${string}/:${infer Name}`
    ? Name
    : never

export type ApiRequest<Name extends RouteName> = {
  readonly params: Readonly<Record<ParamsOf<Name>, string>>
  readonly body: BodyOf<Name>
  readonly query: QueryOf<Name>
  readonly address: string
  /** Sets a header of the answer. */
  header(name: string, value: string): void
}

type SignedInApiRequest<Name extends RouteName> = ApiRequest<Name> & { readonly session: Session }
/** The owner's copy may have millions of entries: a stream sends its JSON in parts. */
type RouteAnswer<Name extends RouteName> = Promise<
  Name extends 'GET /api/export' ? Readable : Routes[Name]['answer']
>

type RouteInput<Name extends RouteName> = (Routes[Name] extends { body: object }
  ? { readonly body: z.ZodType<BodyOf<Name>> }
  : object) &
  (Routes[Name] extends { query: object }
    ? { readonly query: z.ZodType<QueryOf<Name>> }
    : object) & {
    /** The rate limit per account, over all processes: for money, keys and e-mails. */
    readonly allowance?: Allowance
  }

export type ApiRoute<Name extends RouteName> = RouteInput<Name> &
  (
    | { readonly session: 'none'; run(request: ApiRequest<Name>): RouteAnswer<Name> }
    | {
        /** `open`: it buys, spends or makes a key, so not while the account is being closed. */
        readonly session: 'required' | 'open'
        /** What the route does, if the session needs proofs for it: accounts/levels.ts. */
        readonly action?: Action
        run(request: SignedInApiRequest<Name>): RouteAnswer<Name>
      }
  )

/** The routes of one subject, under the names of the contract. */
export type RouteTable<Name extends RouteName> = { readonly [N in Name]: ApiRoute<N> }

/** A route without the types of its name. */
type UntypedRoute = {
  readonly session: 'none' | 'required' | 'open'
  readonly action?: Action
  readonly body?: z.ZodType
  readonly query?: z.ZodType
  readonly allowance?: Allowance
  run(request: object): Promise<unknown>
}

export type RouteAccounts = Pick<
  Accounts,
  'session' | 'requireSession' | 'requireProofs' | 'isOwnOrigin' | 'attempt'
>

export function routesPlugin(accounts: RouteAccounts, table: RouteTable<RouteName>): Plugin {
  async function sessionOf(request: FastifyRequest, action?: Action): Promise<Session> {
    const session = await accounts.session(headersOf(request))
    return action === undefined
      ? accounts.requireSession(session)
      : accounts.requireProofs(session, action)
  }

  return (app) => {
    acceptOnlyJson(app)
    for (const [name, route] of Object.entries(table) as unknown as [string, UntypedRoute][]) {
      const [method = '', url = ''] = name.split(' ')
      app.route({
        method,
        url,
        bodyLimit: BODY_BYTES_MAX,
        // Before the body is read.
        onRequest: async (request) => requireOwnOrigin(accounts, request),
        async handler(request, reply) {
          const apiRequest = {
            params: request.params,
            address: request.address,
            header: (header: string, value: string) => void reply.header(header, value),
          }
          const validated = () => ({
            body: route.body && validate(route.body, request.body ?? null),
            query: route.query && validate(route.query, request.query),
          })
          if (route.session === 'none') return route.run({ ...apiRequest, ...validated() })
          const session = await sessionOf(request, route.action)
          for (const cookie of session.cookies) reply.header('set-cookie', cookie)
          if (route.session === 'open' && session.isClosing) throw closing()
          const signedIn = { ...apiRequest, ...validated(), session }
          if (route.allowance !== undefined) {
            await requireAllowance(accounts, name, session, route.allowance)
          }
          return route.run(signedIn)
        },
      })
    }
  }
}

function closing(): CabinetRefusal {
  return new CabinetRefusal('account_closing', 'This account is being closed.')
}

/** Counts an attempt of the account at this route, and refuses it beyond the allowance. */
export async function requireAllowance(
  accounts: Pick<Accounts, 'attempt'>,
  name: string,
  session: Session,
  allowance: Allowance,
): Promise<void> {
  const count = await accounts.attempt(session, name, allowance)
  if (count.isAllowed) return
  const { retryAfterSeconds } = count
  throw new CabinetRefusal('attempts_exceeded', 'Too often; try again later.', {
    retryAfterSeconds,
  })
}

/** Browsers send the origin with every request but GET; a change must come from our own pages. */
export function requireOwnOrigin(
  accounts: Pick<Accounts, 'isOwnOrigin'>,
  request: FastifyRequest,
): void {
  if (request.method === 'GET' || request.method === 'HEAD') return
  if (accounts.isOwnOrigin(headersOf(request))) return
  throw new CabinetRefusal('origin_wrong', 'This request does not come from our own pages.')
}

/** The headers that the accounts module reads. */
export function headersOf({ headers }: FastifyRequest): Headers {
  const sent = new Headers()
  for (const name of ['cookie', 'origin', 'sec-fetch-site', 'user-agent'] as const) {
    const value = headers[name]
    if (typeof value === 'string') sent.set(name, value)
  }
  return sent
}

/** Checks the input against the schema; refuses with field_invalid. */
export function validate<Value>(schema: z.ZodType<Value>, value: unknown): Value {
  const read = readInput(schema, value)
  if ('value' in read) return read.value
  throw new CabinetRefusal('field_invalid', 'A field is missing or invalid.', read)
}
