// One request to /api/auth as its flow gets it, and the type of a route. A route says which session
// it requires; its flow checks the body, calls better-auth, sends e-mails and answers.
import type { Answer } from './answers.ts'
import type { EventContext } from './emails/email-kinds.ts'
import type { Action } from './levels.ts'
import type { Session } from './sessions.ts'

export type AuthRequest = {
  readonly body: Readonly<Record<string, unknown>>
  readonly address: string
  /** The browser's session; undefined when it has none, or when the route does not read it. */
  readonly session: Session | undefined
  /** For e-mails: time, address and device of the request. */
  readonly eventContext: EventContext
  /** The value of one of our cookies; the name is without the prefix. */
  cookie(name: string): string | undefined
  /** The text of a cookie that the answer sets. */
  newCookie(name: string, value: string, days: number): string
  /** Calls better-auth at the request's path or another one; errors come back with our codes. */
  callBetterAuth(body: Readonly<Record<string, unknown>>, path?: string): Promise<Answer>
}

/** A request to a route that requires a session. */
export type SignedInAuthRequest = AuthRequest & { readonly session: Session }

type Common = {
  /** Few attempts per address, because a correct guess would gain something. */
  readonly hasStrictLimit?: true
  /** Delays every answer, or every refusal: time must not tell whether an account exists. */
  readonly hidesTiming?: 'always' | 'when refused'
}

export type AuthRoute = Common &
  (
    | { readonly session?: 'optional'; run(request: AuthRequest): Promise<Answer> }
    | {
        readonly session: 'required'
        /** What the request does: levels.ts says which proofs the session needs for it. */
        readonly action?: Action
        /** The flow checks a password in the body, so the session need not have proven it. */
        readonly hasPasswordInBody?: true
        run(request: SignedInAuthRequest): Promise<Answer>
      }
  )

/** The key is method and path, such as "POST /sign-in/email". */
export type AuthRouteTable = Readonly<Record<string, AuthRoute>>
