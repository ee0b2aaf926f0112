// Text from outside that goes into the database: one NUL would make it refuse a whole array.

/** Two lines of a terminal; the log contains the whole error. */
const REASON_LENGTH_MAX = 160

/** Replaces all but printable ASCII, and cuts. */
export function printable(text: string, lengthMax: number): string {
  return text.replace(/[^\x20-\x7e]/g, '?').slice(0, lengthMax)
}

/** Why the database refused something, with its SQLSTATE. */
export function reasonOf(error: unknown): string {
  const { code, message = '' } = error as { code?: unknown; message?: string }
  return printable(typeof code === 'string' ? `${code} ${message}` : message, REASON_LENGTH_MAX)
}
