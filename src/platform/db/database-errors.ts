// Which errors of the database are transient: the same statement, sent again later, may succeed.
// The ledger, the pool, jobs, e-mails, loops and the answers to clients all use this list. Every
// other error is a bug in the statement, in its values or in our code, and repeating does not help;
// so is a grant that the role lacks (missing-grants.ts).
import { noteMissingGrant } from './missing-grants.ts'

/**
 * PostgreSQL did not answer: the statement may or may not be committed. Only repeating it shows.
 */
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

/** Call it only for an error that comes from the database or its connection. */
export function isTransient(error: unknown): boolean {
  if (error instanceof OutcomeUnknown) return true
  if (!(error instanceof Error)) return false
  const state = stateOf(error)
  if (state !== undefined) {
    return (
      Object.hasOwn(TRANSIENT_CLASSES, state.slice(0, 2)) || Object.hasOwn(TRANSIENT_STATES, state)
    )
  }
  // Errors of the driver and of sockets are plain Errors, or an AggregateError when a host has
  // several addresses. Bugs of ours have their own class: TypeError, RangeError, Fault.
  return error.name === 'Error' || error.name === 'AggregateError'
}

/** The server reported it about a statement; the connection to the server works. */
export function isFromServer(error: unknown): boolean {
  return stateOf(error) !== undefined
}

/** A lock was not free in time. The connection and the server still work. */
export function isLockTimeout(error: unknown): boolean {
  return stateOf(error) === '55P03'
}

/**
 * Classes 58 and XX: PostgreSQL could not read or write a file, or met an internal error or a
 * damaged page. It may affect every statement, or only those that need one page.
 */
export function isServerFault(error: unknown): boolean {
  return /^(?:58|XX)/.test(stateOf(error) ?? '')
}

/**
 * The server has become read-only or is shutting down. Another server may have the same address by
 * now, which only a new connection reaches.
 */
export function isServerLost(error: unknown): boolean {
  return /^(?:08|57P|25006)/.test(stateOf(error) ?? '')
}

/** Node and browsers may know a time zone that is newer than our PostgreSQL. */
export function isUnknownZone(error: unknown): boolean {
  return stateOf(error) === '22023'
}

/** The SQLSTATE. Only the server's own errors have a severity: `EPIPE` is five characters too. */
function stateOf(error: unknown): string | undefined {
  const { code, severity } = Object(error) as { code?: unknown; severity?: unknown }
  return severity === undefined ? undefined : String(code)
}

const marked = new WeakSet<Error>()

/**
 * Returns the same result or throws the same error, marked for `isDatabaseUnavailable` if it is
 * transient. Errors are marked at the query, because elsewhere a socket error of the database looks
 * like that of any other connection.
 */
export async function markTransient<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof Error && isTransient(error)) marked.add(error)
    else noteMissingGrant(error)
    throw error
  }
}

/** True for a transient error of the database, wherever it is caught. */
export function isDatabaseUnavailable(error: unknown): boolean {
  return error instanceof Error && marked.has(error)
}
