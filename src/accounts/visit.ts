// One request to /api/auth as the flows see it, and what a flow is. A flow says who may come and
// then runs from top to bottom: checks, the question to better-auth, letters, answer.
import type { Answer } from './answers.ts'
import type { Circumstances } from './letters/notice.ts'
import type { Session } from './sessions.ts'

export type Visit = {
  readonly body: Readonly<Record<string, unknown>>
  readonly address: string
  /** Of this browser; undefined when there is none, or when the route does not ask for it. */
  readonly session: Session | undefined
  /** For letters: when, from where, with what. */
  readonly circumstances: Circumstances
  /** The value of one of our cookies, by its name without the prefix. */
  cookie(name: string): string | undefined
  /** A cookie to be set with the answer. */
  newCookie(name: string, value: string, days: number): string
  /** Asks better-auth, at this visit's path or another; a no comes back in our codes. */
  ask(body: Readonly<Record<string, unknown>>, path?: string): Promise<Answer>
}

/** A visit for which the session was required, and is there. */
export type OwnVisit = Visit & { readonly session: Session }

type Common = {
  /** Guesses would be worth something here: few attempts per address. */
  readonly isStrict?: true
  /** Every answer takes equally long, or every no: time must not tell whether somebody exists. */
  readonly isEven?: 'always' | 'when refused'
}

export type Route = Common &
  (
    | { readonly session?: 'maybe'; run(visit: Visit): Promise<Answer> }
    | { readonly session: 'needed' | 'fresh'; run(visit: OwnVisit): Promise<Answer> }
  )

/** By method and path, such as "POST /sign-in/email". */
export type Routes = Readonly<Record<string, Route>>
