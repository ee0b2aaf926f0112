// The text of a command for its record, and the sentence of an error that ends a command: the same
// for a terminal and for the console.
import { isDatabaseUnavailable } from '../../platform/db/database-errors.ts'
import { missingGrantText } from '../../platform/db/missing-grants.ts'
import { isRefusal } from '../../platform/refusal.ts'
import { CommandError } from './command-error.ts'

export type Options = Readonly<Record<string, unknown>>

/** If an operator pastes a whole key, only its last four characters are used, stored or printed. */
export function maskKeys(text: string): string {
  return text.replace(/\bsk-[\w-]{8,}/g, (key) => `sk-…${key.slice(-4)}`)
}

export function maskKeysIn(options: Options): Options {
  return Object.fromEntries(
    Object.entries(options).map(([name, value]) => [
      name,
      typeof value === 'string' ? maskKeys(value) : value,
    ]),
  )
}

/** The command line in one canonical spelling. */
export function commandText(
  entry: { readonly usage: string },
  args: readonly string[],
  given: Options,
): string {
  const words = entry.usage.split(' ').filter((word) => /^\w/.test(word))
  const options = Object.entries(given).flatMap(([name, value]) => {
    // Commander names `--sell-below-cost` sellBelowCost.
    const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
    return value === true ? [flag] : [flag, String(value)]
  })
  return [...words, ...[...args, ...options].map(quoteWord)].join(' ')
}

function quoteWord(word: string): string {
  return /^[\w@.:+,/-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

/** The sentence of an expected error; undefined for any other. */
export function errorSentence(error: unknown): string | undefined {
  return unavailableSentence(error) ?? sentenceOf(error)
}

function sentenceOf(error: unknown): string | undefined {
  if (error instanceof CommandError || isRefusal(error)) return error.message
  return missingGrantText(error)
}

/** PostgreSQL does not let us in: it refuses the credentials, or has no such database. */
const NO_ENTRY = /^(?:28\w{3}|3D000)$/

/** What to say when the database, and not the command, is what failed. */
function unavailableSentence(error: unknown): string | undefined {
  const { code, severity, message } = Object(error) as {
    readonly code?: unknown
    /** Only PostgreSQL's own errors have one. */
    readonly severity?: unknown
    readonly message?: string
  }
  if (!isDatabaseUnavailable(error) && !NO_ENTRY.test(String(code))) return undefined
  const state = severity === undefined ? 'does not answer' : 'is unavailable'
  // The error of a host with several addresses has a code and no message.
  return `the database ${state}: ${message || code}`
}
