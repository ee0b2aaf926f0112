// The way of one request through /api/auth: a path of the list, our own origin, an allowance, a
// body, a session where one is needed, the flow, and an answer that takes its time. Nothing reaches
// better-auth but by a flow: of its many paths most are not ours to offer.
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
import { normalizeIP } from '@better-auth/core/utils/ip'
import type { Clock } from '../platform/clock.ts'
import { isDatabaseUnavailable } from '../platform/db/database-errors.ts'
import type { Log } from '../platform/log.ts'
import { isRefusal } from '../platform/refusal.ts'
import { type Answer, codeOf, isYes, no, responseOf, yes } from './answers.ts'
import type { Auth } from './auth/auth.ts'
import type { Cookies } from './cookies.ts'
import { withDatabaseFailure } from './database-failures.ts'
import { deviceOf } from './device.ts'
import { type AccountsSettings, ADDRESS_HEADER, BASE_PATH } from './parts.ts'
import type { Session, Sessions } from './sessions.ts'
import type { Throttle } from './throttle.ts'
import type { Route, Routes, Visit } from './visit.ts'

/** A passkey's answer is 2-4 KB; nothing else comes near. */
const BODY_LENGTH_MAX = 32_768
/** Such names run to 200 characters; a longer one is nobody's browser. */
const AGENT_LENGTH_MAX = 400
/** Paths where a guess is worth nothing; a page may ask for several of them at once. */
const LENIENCY = 10
/** What a timer may miss by. */
const TIMER_MS = 2
/** As the cabinet says it elsewhere. */
const AWAY_SECONDS = 5

export type HandlerOptions = {
  readonly clock: Clock
  readonly log: Log
  readonly settings: AccountsSettings
  auth(): Promise<Auth>
  readonly sessions: Sessions
  readonly throttle: Throttle
  readonly routes: Routes
  readonly origin: string
  readonly cookies: Cookies
}

export function createHandler(options: HandlerOptions) {
  const { clock, log, settings, auth, sessions, throttle, routes, origin, cookies } = options

  async function ask(request: Request, headers: Headers, path: string, body: object) {
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
    const said = parsed(await response.text()) ?? {}
    if (response.ok) return yes(said, response.headers.getSetCookie())
    const code = codeOf(said.code)
    if (code !== undefined) return no(code)
    log.warn({ path, status: response.status, theirs: said.code }, 'an unknown code of better-auth')
    return no(response.status < 500 ? 'body_wrong' : 'fault')
  }

  function visitOf(request: Request, address: string, path: string, body: Visit['body']) {
    const headers = innerHeaders(request, address)
    const sent = request.headers.get('cookie') ?? ''
    return {
      headers,
      body,
      address,
      circumstances: {
        atMs: clock.nowMs(),
        address,
        device: deviceOf(headers.get('user-agent') ?? ''),
      },
      cookie: (name: string) => cookies.read(sent, name),
      newCookie: cookies.write,
      ask: (asked: object, elsewhere = path) => ask(request, headers, elsewhere, asked),
    }
  }

  async function run(request: Request, address: string, path: string, route: Route) {
    // better-auth asks for the origin only when a cookie is there. We do so always: browsers name
    // it with every POST, and a sign-in from a foreign page needs no cookie to do harm.
    if (request.method !== 'GET' && !isOwnOrigin(request.headers, origin)) {
      return no('origin_wrong')
    }
    const max = settings.addressPerMinute * (route.isStrict ? 1 : LENIENCY)
    const network = normalizeIP(address, { ipv6Subnet: 64 })
    const count = await throttle.take(`address ${network} ${path}`, { max, seconds: 60 })
    if (!count.isAllowed) return no('attempts_exceeded', count)
    const body = request.method === 'GET' ? {} : await bodyOf(request)
    if (body === undefined) return no('body_wrong')
    const visit = visitOf(request, address, path, body)
    if (route.session === undefined) return route.run({ ...visit, session: undefined })
    const session = await sessions.read(visit.headers)
    if (route.session === 'maybe') return route.run({ ...visit, session })
    if (session === undefined) return no('session_missing')
    if (route.session === 'fresh' && !session.isFresh) return no('session_not_fresh')
    return withCookies(session, await route.run({ ...visit, session }))
  }

  /**
   * To the next multiple of answerMs, so that what was done in between does not show. A timer
   * counts whole milliseconds from when it was set, so by how much it misses tells when that was:
   * with a bare timer, known and unknown addresses were half a millisecond apart over 300 pairs of
   * resets. So the last of it is waited for by the clock.
   */
  async function evenOut(startedMs: number): Promise<void> {
    const steps = Math.ceil((clock.spanMs() - startedMs) / settings.answerMs)
    const endMs = startedMs + steps * settings.answerMs
    await pause(Math.max(0, endMs - clock.spanMs() - TIMER_MS))
    while (clock.spanMs() < endMs) await turn()
  }

  /** Answers a request to /api/auth. `address` is the client's, as the outer door knows it. */
  return async function handle(
    request: Request,
    { address }: { readonly address: string },
  ): Promise<Response> {
    const startedMs = clock.spanMs()
    const { pathname } = new URL(request.url)
    const path = pathname.startsWith(`${BASE_PATH}/`) ? pathname.slice(BASE_PATH.length) : ''
    const name = `${request.method} ${path}`
    const route = Object.hasOwn(routes, name) ? routes[name] : undefined
    if (route === undefined) return responseOf(no('path_unknown'))
    const answer = await run(request, address, path, route).catch((error: unknown) => {
      if (isRefusal(error, 'password_checks_overloaded')) {
        log.warn({ path, ...error.detail }, 'too many passwords at once')
        return no('overloaded', { retryAfterSeconds: 1 })
      }
      if (isDatabaseUnavailable(error)) {
        log.warn({ path, err: error }, 'the database is away')
        return no('unavailable', { retryAfterSeconds: AWAY_SECONDS })
      }
      log.error({ path, err: error }, 'a fault')
      return no('fault')
    })
    const isEven = route.isEven === 'always' || (route.isEven === 'when refused' && !isYes(answer))
    if (isEven) await evenOut(startedMs)
    return responseOf(answer)
  }
}

export type Handle = ReturnType<typeof createHandler>

/**
 * True when one of our own pages asks. Browsers name the origin of everything but a GET; those that
 * also say how the asking page is related to us must agree with it.
 */
export function isOwnOrigin(headers: Headers, origin: string): boolean {
  const site = headers.get('sec-fetch-site')
  return headers.get('origin') === origin && (site === null || site === 'same-origin')
}

/** What better-auth needs of the request; what is not named here does not reach it. */
function innerHeaders(request: Request, address: string): Headers {
  const headers = new Headers({ 'content-type': 'application/json', [ADDRESS_HEADER]: address })
  for (const name of ['cookie', 'origin']) {
    const value = request.headers.get(name)
    if (value !== null) headers.set(name, value)
  }
  headers.set('user-agent', (request.headers.get('user-agent') ?? '').slice(0, AGENT_LENGTH_MAX))
  return headers
}

async function bodyOf(request: Request): Promise<Visit['body'] | undefined> {
  if (Number(request.headers.get('content-length') ?? 0) > BODY_LENGTH_MAX) return undefined
  const text = await request.text()
  if (text.length > BODY_LENGTH_MAX) return undefined
  return text === '' ? {} : parsed(text)
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Record<string, unknown>) : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** The flow's own cookies come last: a browser keeps the last of a name. */
function withCookies(session: Session, answer: Answer): Answer {
  return { ...answer, cookies: [...session.cookies, ...answer.cookies] }
}
