// Handles one request to /api/auth: looks up the route, checks origin, rate limit, body and
// session, runs the flow, and delays the answer where its timing could reveal whether an account
// exists. Requests reach better-auth only through a flow: we do not offer most of its paths.
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
import { normalizeIP } from '@better-auth/core/utils/ip'
import type { Clock } from '../platform/clock.ts'
import { isDatabaseUnavailable } from '../platform/db/database-errors.ts'
import type { Log } from '../platform/log.ts'
import { siteOf } from '../platform/networks.ts'
import { isRefusal } from '../platform/refusal.ts'
import type { PasswordRefusalCode } from '../platform/refusals.ts'
import { type Answer, codeOf, errorAnswer, isOk, okAnswer, responseOf } from './answers.ts'
import type { Auth } from './auth/auth.ts'
import type { AuthRequest, AuthRoute, AuthRouteTable } from './auth-route.ts'
import type { Cookies } from './cookies.ts'
import { withDatabaseFailure } from './database-failures.ts'
import { type AccountsSettings, ADDRESS_HEADER, BASE_PATH } from './dependencies.ts'
import type { Proof } from './levels.ts'
import { missingFor, type Session, type Sessions } from './sessions.ts'
import type { CookieSignatures } from './succession/cookie-signatures.ts'
import type { Throttle } from './throttle.ts'
import { deviceName } from './user-agent.ts'

/** The largest body, a passkey's response, has 2-4 KB. */
const BODY_LENGTH_MAX = 32_768
/** User-Agent headers of browsers have up to 200 characters. */
const AGENT_LENGTH_MAX = 400
/**
 * Multiplies the limit of paths where a guess gains nothing; a page may request several of them at
 * once.
 */
const LENIENT_FACTOR = 10
/**
 * Multiplies the limit for all addresses of one site, a /24 or a /48, where a secret is checked. A
 * customer of a hosting company may have a whole /48, and its 65,536 networks could fill the queue
 * of passwords, which keeps everybody from signing in. At the default the site has 200 passwords
 * a minute for each path, three seconds of one thread. Ten people at their limit are more than an
 * office, or the customers of a mobile operator who share a /24, reach in a minute.
 */
const SITE_FACTOR = 10
/** How far a timer may be off. */
const TIMER_ERROR_MS = 2
/** When the database is unavailable; as in platform/server/answers.ts. */
const RETRY_SECONDS = 5

type SignedInRoute = Extract<AuthRoute, { readonly session: 'required' }>

export type AuthHandlerOptions = {
  readonly clock: Clock
  readonly log: Log
  readonly settings: AccountsSettings
  auth(): Promise<Auth>
  readonly sessions: Sessions
  readonly throttle: Throttle
  readonly routes: AuthRouteTable
  readonly origin: string
  readonly cookies: Cookies
  readonly signatures: CookieSignatures
}

export function createAuthHandler(options: AuthHandlerOptions) {
  const { clock, log, settings, auth, sessions, throttle, routes, origin, cookies } = options
  const { resign } = options.signatures

  async function callBetterAuth(request: Request, headers: Headers, path: string, body: object) {
    const { search } = new URL(request.url)
    const init = { method: request.method, headers }
    const { handler } = await auth()
    const inner =
      request.method === 'GET'
        ? new Request(`${origin}${BASE_PATH}${path}${search}`, init)
        : new Request(`${origin}${BASE_PATH}${path}`, { ...init, body: JSON.stringify(body) })
    const response = await withDatabaseFailure(
      () => handler(inner),
      ({ ok }) => ok,
    )
    const parsed = parseObject(await response.text()) ?? {}
    if (response.ok) return okAnswer(parsed, response.headers.getSetCookie())
    const code = codeOf(parsed.code)
    if (code !== undefined) return errorAnswer(code)
    log.warn(
      { path, status: response.status, theirs: parsed.code },
      'better-auth answered with an unknown code',
    )
    return errorAnswer(response.status < 500 ? 'body_wrong' : 'fault')
  }

  function authRequestOf(
    request: Request,
    address: string,
    path: string,
    body: AuthRequest['body'],
  ) {
    const headers = resign(innerHeaders(request, address))
    const sent = request.headers.get('cookie') ?? ''
    return {
      headers,
      body,
      address,
      eventContext: {
        atMs: clock.nowMs(),
        address,
        device: deviceName(headers.get('user-agent') ?? ''),
      },
      cookie: (name: string) => cookies.read(sent, name),
      newCookie: cookies.write,
      callBetterAuth: (sent: object, otherPath = path) =>
        callBetterAuth(request, headers, otherPath, sent),
    }
  }

  /** Counts a request of this address, and of its site; the count that does not allow it. */
  async function countRequest(address: string, path: string, route: AuthRoute) {
    const max = settings.addressPerMinute * (route.hasStrictLimit ? 1 : LENIENT_FACTOR)
    const network = normalizeIP(address, { ipv6Subnet: 64 })
    const own = await throttle.countAttempt(`address ${network} ${path}`, { max, seconds: 60 })
    if (!own.isAllowed) return own
    if (!route.hasStrictLimit) return undefined
    // After the address: what one address is refused must not use up what its neighbours may.
    const all = { max: max * SITE_FACTOR, seconds: 60 }
    const site = await throttle.countAttempt(`site ${siteOf(address)} ${path}`, all)
    return site.isAllowed ? undefined : site
  }

  async function run(request: Request, address: string, path: string, route: AuthRoute) {
    // better-auth checks the origin only when the request has a cookie. We always check it:
    // browsers send it with every POST, and a sign-in that a foreign page sends does harm even
    // without a cookie.
    if (request.method !== 'GET' && !isOwnOrigin(request.headers, origin)) {
      return errorAnswer('origin_wrong')
    }
    const exceeded = await countRequest(address, path, route)
    if (exceeded !== undefined) return errorAnswer('attempts_exceeded', exceeded)
    const body = request.method === 'GET' ? {} : await bodyOf(request)
    if (body === undefined) return errorAnswer('body_wrong')
    const authRequest = authRequestOf(request, address, path, body)
    if (route.session === undefined) return route.run({ ...authRequest, session: undefined })
    const session = await sessions.read(authRequest.headers)
    if (route.session !== 'required') return route.run({ ...authRequest, session })
    if (session === undefined) return errorAnswer('session_missing')
    const needs = missingForRoute(session, route)
    if (needs.length > 0) return errorAnswer('step_up_needed', { needs })
    return withCookies(session, await route.run({ ...authRequest, session }))
  }

  /**
   * Waits until the next multiple of answerMs, so that an answer's time does not reveal what was
   * done. A timer counts whole milliseconds from when it was set, so its error reveals that moment:
   * with a timer alone, known and unknown addresses differed by half a millisecond over 300 pairs
   * of resets. For the last 2 ms a loop reads the clock instead.
   */
  async function waitForTimeStep(startedMs: number): Promise<void> {
    const steps = Math.ceil((clock.spanMs() - startedMs) / settings.answerMs)
    const endMs = startedMs + steps * settings.answerMs
    await pause(Math.max(0, endMs - clock.spanMs() - TIMER_ERROR_MS))
    while (clock.spanMs() < endMs) await turn()
  }

  /** Answers a request to /api/auth. `address` is the client's, as the HTTP server knows it. */
  return async function handle(
    request: Request,
    { address }: { readonly address: string },
  ): Promise<Response> {
    const startedMs = clock.spanMs()
    const { pathname } = new URL(request.url)
    const path = pathname.startsWith(`${BASE_PATH}/`) ? pathname.slice(BASE_PATH.length) : ''
    const name = `${request.method} ${path}`
    const route = Object.hasOwn(routes, name) ? routes[name] : undefined
    if (route === undefined) return responseOf(errorAnswer('path_unknown'))
    const answer = await run(request, address, path, route).catch((error: unknown) => {
      if (isRefusal<PasswordRefusalCode>(error, 'password_checks_overloaded')) {
        log.warn({ path, ...error.detail }, 'too many password checks at once')
        return errorAnswer('overloaded', { retryAfterSeconds: 1 })
      }
      if (isDatabaseUnavailable(error)) {
        log.warn({ path, err: error }, 'the database is away')
        return errorAnswer('unavailable', { retryAfterSeconds: RETRY_SECONDS })
      }
      log.error({ path, err: error }, 'a fault')
      return errorAnswer('fault')
    })
    const hidesTiming =
      route.hidesTiming === 'always' || (route.hidesTiming === 'when refused' && !isOk(answer))
    if (hidesTiming) await waitForTimeStep(startedMs)
    return responseOf(answer)
  }
}

/**
 * True when one of our own pages sent the request. Browsers send Origin with every request but GET;
 * if the browser sends Sec-Fetch-Site as well, that must be same-origin.
 */
export function isOwnOrigin(headers: Headers, origin: string): boolean {
  const site = headers.get('sec-fetch-site')
  return headers.get('origin') === origin && (site === null || site === 'same-origin')
}

function missingForRoute(session: Session, route: SignedInRoute): readonly Proof[] {
  if (route.action === undefined) return []
  const missing = missingFor(session, route.action)
  return route.hasPasswordInBody ? missing.filter((proof) => proof !== 'password') : missing
}

/** The headers that better-auth needs; no others reach it. */
function innerHeaders(request: Request, address: string): Headers {
  const headers = new Headers({ 'content-type': 'application/json', [ADDRESS_HEADER]: address })
  for (const name of ['cookie', 'origin']) {
    const value = request.headers.get(name)
    if (value !== null) headers.set(name, value)
  }
  headers.set('user-agent', (request.headers.get('user-agent') ?? '').slice(0, AGENT_LENGTH_MAX))
  return headers
}

async function bodyOf(request: Request): Promise<AuthRequest['body'] | undefined> {
  if (Number(request.headers.get('content-length') ?? 0) > BODY_LENGTH_MAX) return undefined
  const text = await request.text()
  if (text.length > BODY_LENGTH_MAX) return undefined
  return text === '' ? {} : parseObject(text)
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Record<string, unknown>) : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** The flow's own cookies come last: of two cookies with one name a browser keeps the last. */
function withCookies(session: Session, answer: Answer): Answer {
  return { ...answer, cookies: [...session.cookies, ...answer.cookies] }
}
