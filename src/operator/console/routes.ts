// Handles one request to /api of the console: checks origin, session, second factor, permission and
// input, runs the route, and sends an answer of the contract's type. A route says who may use it;
// a route without a permission does not compile.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { acceptOnlyJson, readInput } from '../../platform/server/input.ts'
import type { Plugin } from '../../platform/server/plugin.ts'
import type { Permission, SignedIn, Staff, StaffSession } from '../../staff/staff.ts'
import type { Routes } from './contract/routes.ts'
import type { Cookies } from './cookie.ts'
import { ConsoleRefusal, fieldInvalid } from './refusals.ts'

/** A command with a reason is a few hundred bytes, a passkey's answer 2-4 KB. */
const BODY_BYTES_MAX = 32 * 1024

/** Any text of a path; each route looks for what it names. */
const PARAMS = z.record(z.string(), z.string())

/**
 * Who may use a route. `public`: anybody, to sign in. `begun`: a session that may still lack its
 * second factor, to prove it or to set it up. Else: a whole session whose role has the permission.
 */
export type Access = 'public' | 'begun' | Permission

export type RouteName = keyof Routes
type BodyOf<Name extends RouteName> = Routes[Name] extends { body: infer Body } ? Body : undefined
type QueryOf<Name extends RouteName> = Routes[Name] extends { query: infer Query } ? Query : object
type ParamsOf<Path extends string> = Path extends `${string}/:${infer Name}/${infer Rest}`
  ? Name | ParamsOf<`/${Rest}`>
  : Path extends `${string}/:${infer Name}`
    ? Name
    : never

/** What every route gets. */
export type Visit = {
  readonly address: string
  readonly agent: string
  /** Gives the browser the token of a session. */
  keep(signedIn: SignedIn): void
  /** Takes the token away. */
  forget(): void
  /** The ticket of a sign-in that the identity provider has under way in this browser. */
  readonly ticket: string | undefined
  /** Gives the browser a ticket; undefined takes it away. */
  keepTicket(ticket: string | undefined): void
}

export type BegunVisit = Visit & { readonly session: StaffSession; readonly token: string }

type RequestOf<Name extends RouteName> = {
  readonly params: Readonly<Record<ParamsOf<Name>, string>>
  readonly body: BodyOf<Name>
  readonly query: QueryOf<Name>
}

type InputOf<Name extends RouteName> = (Routes[Name] extends { body: object }
  ? { readonly body: z.ZodType<BodyOf<Name>> }
  : object) &
  (Routes[Name] extends { query: object } ? { readonly query: z.ZodType<QueryOf<Name>> } : object)

/** `isPolled`: pages ask again by themselves, which does not keep a session in use. */
export type ConsoleRoute<Name extends RouteName> = InputOf<Name> & { readonly isPolled?: true } & (
    | {
        readonly access: 'public'
        run(request: RequestOf<Name> & Visit): Promise<Routes[Name]['answer']>
      }
    | {
        readonly access: Exclude<Access, 'public'>
        run(request: RequestOf<Name> & BegunVisit): Promise<Routes[Name]['answer']>
      }
  )

/** The routes of one subject, under the names of the contract. */
export type RouteTable<Name extends RouteName> = { readonly [N in Name]: ConsoleRoute<N> }

/** A route without the types of its name. */
type UntypedRoute = {
  readonly access: Access
  readonly isPolled?: true
  readonly body?: z.ZodType
  readonly query?: z.ZodType
  run(request: object): Promise<unknown>
}

export type RouteOptions = {
  readonly staff: Pick<Staff, 'findSession' | 'requirePermission'>
  readonly cookies: Cookies
  /** The console's own origin: only its pages may change anything. */
  readonly origin: string
}

export function routesPlugin(options: RouteOptions, table: RouteTable<RouteName>): Plugin {
  const { staff, cookies, origin } = options

  async function begin(request: FastifyRequest, access: Exclude<Access, 'public'>, isUse: boolean) {
    const token = cookies.session.read(request.headers.cookie)
    const session = token === undefined ? undefined : await staff.findSession(token, isUse)
    if (token === undefined || session?.kind !== 'console') {
      throw new ConsoleRefusal('operator_session_missing', 'Sign in first.')
    }
    if (access !== 'begun') staff.requirePermission(session, access)
    return { session, token }
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
        onRequest: async (request) => requireOwnOrigin(request, origin),
        async handler(request, reply) {
          // Before the input: whoever may not use the route learns nothing about it.
          const isUse = route.isPolled !== true
          const begun = route.access === 'public' ? {} : await begin(request, route.access, isUse)
          const { address } = request
          return route.run({
            ...{ address, ...begun },
            params: validate(PARAMS, request.params),
            agent: request.headers['user-agent'] ?? '',
            ...cookieActs(cookies, request, reply),
            body: route.body && validate(route.body, request.body ?? null),
            query: route.query && validate(route.query, request.query),
          })
        },
      })
    }
  }
}

function cookieActs({ session, ticket }: Cookies, request: FastifyRequest, reply: FastifyReply) {
  const set = (value: string) => void reply.header('set-cookie', value)
  return {
    keep: ({ token }: SignedIn) => set(session.write(token)),
    forget: () => set(session.erase()),
    ticket: ticket.read(request.headers.cookie),
    keepTicket: (text: string | undefined) =>
      set(text === undefined ? ticket.erase() : ticket.write(text)),
  } satisfies Partial<Visit>
}

/** Browsers send the origin with every request but GET; a change must come from our own pages. */
function requireOwnOrigin({ method, headers }: FastifyRequest, origin: string): void {
  const site = headers['sec-fetch-site']
  const isSameSite = site === undefined || site === 'same-origin'
  if (method === 'GET' || method === 'HEAD') {
    // A link from another site opens a page, never an answer of the API.
    if (isSameSite || site === 'none') return
  } else if (headers.origin === origin && isSameSite) return
  throw new ConsoleRefusal('origin_wrong', 'This request does not come from our own pages.')
}

function validate(schema: z.ZodType, value: unknown): unknown {
  const read = readInput(schema, value)
  if ('value' in read) return read.value
  throw fieldInvalid(read.field)
}
