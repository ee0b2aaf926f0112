// better-auth replaces some errors of the database by its own, without the cause: a session that
// PostgreSQL could not extend becomes a 500. The connections lent to better-auth record a transient
// error or a missing grant here, and its caller gets that error instead of better-auth's answer.
import { AsyncLocalStorage } from 'node:async_hooks'
import { isDatabaseUnavailable } from '../platform/db/database-errors.ts'
import { isMissingGrant } from '../platform/db/missing-grants.ts'

/** One record for each call of better-auth; concurrent calls do not share it. */
const calls = new AsyncLocalStorage<{ failure?: unknown }>()

/** Passes on the answer or the error, and records such an error for the current call. */
export async function noteFailure<T>(answer: Promise<T>): Promise<T> {
  return answer.catch((error: unknown) => {
    const call = calls.getStore()
    const isOfDatabase = isDatabaseUnavailable(error) || isMissingGrant(error)
    if (call !== undefined && isOfDatabase) call.failure = error
    throw error
  })
}

/** Calls better-auth; rejects with the recorded error when better-auth throws or refuses. */
export async function withDatabaseFailure<T>(
  call: () => Promise<T>,
  isOk: (answer: T) => boolean,
): Promise<T> {
  const seen: { failure?: unknown } = {}
  const answer = await calls.run(seen, call).catch((error: unknown) => {
    throw seen.failure ?? error
  })
  if (seen.failure !== undefined && !isOk(answer)) throw seen.failure
  return answer
}
