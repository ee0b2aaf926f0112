// One change of the ways into an account at a time: its password, and the sessions that better-auth
// adds with a code or replaces. Otherwise one that a thief began before the owner's reset could end
// after it: the thief would have a session again, or the owner's new password would be undone.
import { type Answer, errorAnswer } from '../answers.ts'
import type { Throttle } from '../throttle.ts'

/** better-auth must read the session, or the code, again inside `work`. */
export async function oneAtATime(
  throttle: Pick<Throttle, 'withLease'>,
  account: string,
  work: () => Promise<Answer>,
): Promise<Answer> {
  const answer = await throttle.withLease(`password ${account}`, work)
  return answer ?? errorAnswer('overloaded', { retryAfterSeconds: 1 })
}
