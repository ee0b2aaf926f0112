// Which errors of the database are transient: the same statement, sent again later, may succeed.
// The one list, for the ledger, the pool, jobs, letters, loops and every answer. Everything else is
// a bug in the statement, in its values or in our own code, and no waiting mends it.

/** PostgreSQL did not answer: the statement may or may not be committed. Only a repeat tells. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown'
}

/** Classes of SQLSTATE, by their first two characters. */
const TRANSIENT_CLASSES: Readonly<Record<string, string>> = {
  '08': 'the connection failed',
  53: 'no memory, disk or connection is left',
  57: 'the server stops, starts or has crashed; or a statement met its time limit',
  58: 'PostgreSQL could not read or write a file',
  XX: 'PostgreSQL met an internal error or a damaged page',
}

const TRANSIENT_STATES: Readonly<Record<string, string>> = {
  25006: 'the server only reads: it was switched so, or is the old primary after a failover',
  '40001': 'a serialization failure',
  '40P01': 'a deadlock, of which this was the victim',
  '55P03': 'a lock was not free in time, such as that of a table under migration',
}

/** Judges an error that is known to come from the database or its connection. */
export function isTransient(error: unknown): boolean {
  if (error instanceof OutcomeUnknown) return true
  if (!(error instanceof Error)) return false
  const state = stateOf(error)
  if (state !== undefined) {
    return (
      Object.hasOwn(TRANSIENT_CLASSES, state.slice(0, 2)) || Object.hasOwn(TRANSIENT_STATES, state)
    )
  }
  // The driver's and the socket's errors have no class of their own, or are several in one when a
  // host has several addresses. A bug of ours has: TypeError, RangeError, Fault.
  return error.name === 'Error' || error.name === 'AggregateError'
}

/** A lock was not free in time. The connection and the server are well. */
export function isLockTimeout(error: unknown): boolean {
  return stateOf(error) === '55P03'
}

/**
 * Classes 58 and XX: PostgreSQL could not read or write a file, or met an internal error or a
 * damaged page. Every statement may meet it, or only those that need one page.
 */
export function isServerFault(error: unknown): boolean {
  return /^(?:58|XX)/.test(stateOf(error) ?? '')
}

/**
 * The server no longer is what it was when we connected: it only reads, or goes away. Behind the
 * same address there may be another one by now, which only a new connection reaches.
 */
export function isServerLost(error: unknown): boolean {
  return /^(?:08|57P|25006)/.test(stateOf(error) ?? '')
}

/** The SQLSTATE. Only the server's own errors have a severity: `EPIPE` is five characters too. */
function stateOf(error: unknown): string | undefined {
  const { code, severity } = Object(error) as { code?: unknown; severity?: unknown }
  return severity === undefined ? undefined : String(code)
}

const marked = new WeakSet<Error>()

/**
 * The same answer, or the same error, which `isDatabaseUnavailable` then knows. Errors are marked
 * where they arise, because the error of a broken socket looks the same whatever it led to.
 */
export async function markTransient<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof Error && isTransient(error)) marked.add(error)
    throw error
  }
}

/** True for a transient error of the database, wherever it is caught. */
export function isDatabaseUnavailable(error: unknown): boolean {
  return error instanceof Error && marked.has(error)
}
