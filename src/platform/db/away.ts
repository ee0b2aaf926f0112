// Errors of the database that pass by themselves: it is away, or has no room right now. They are
// marked where they arise, because the error of a broken socket looks alike whoever's it was.

const marked = new WeakSet<Error>()

/** The same answer, or the same error, which `isDatabaseAway` then knows. */
export async function markAway<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof Error && isPassing(error)) marked.add(error)
    throw error
  }
}

/** True for what is worth another try. Everything else, such as a wrong statement, is a fault. */
export function isDatabaseAway(error: unknown): boolean {
  return error instanceof Error && marked.has(error)
}

/** The same judgement on an error whose origin is known to be the database. */
export function isPassing(error: Error): boolean {
  const { code, severity } = error as { code?: unknown; severity?: unknown }
  // Only the server's own errors have a severity; the driver's and the socket's have no class of
  // their own, or are several in one when an address has several spellings.
  if (severity === undefined) return ['Error', 'AggregateError'].includes(error.name)
  // Connection, resources, shutdown or time limit; a disk that failed, an internal error; a table
  // that a migration has locked.
  return /^(?:08|53|57|58|XX|55P03)/.test(String(code))
}
