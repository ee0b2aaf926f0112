// Shows what a command is about to do and asks, unless told --yes. Speaks on standard error, so
// that what a script reads from standard output is the result and nothing else.
import { createInterface } from 'node:readline'

/** False for anything but yes, and when nobody is there to answer. */
export async function confirm(plan: readonly string[], isYes: boolean): Promise<boolean> {
  for (const line of plan) console.error(line)
  if (isYes) return true
  process.stderr.write('Do it? [y/N] ')
  const lines = createInterface({ input: process.stdin, terminal: false })
  for await (const line of lines) return /^\s*y(?:es)?\s*$/i.test(line)
  return false
}
