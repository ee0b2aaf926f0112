// Imports keys of another service line by line and reports on each line without showing its key.
// A refused line changes nothing, and the same file can be imported again.
import type { BookId } from '../platform/ids.ts'
import { isRefusal } from '../platform/refusal.ts'
import { keyImportRefusalCodes } from './refusals.ts'
import { IMPORTED_SECRET_MIN, last4Of } from './secret.ts'

export type ImportReport = {
  /** The first line is 1. */
  readonly line: number
  readonly outcome: 'imported' | 'repeated' | 'refused'
  /** Null when the key is missing, or so short that four characters would reveal much of it. */
  readonly last4: string | null
  readonly book: BookId | null
  readonly sentence: string
}

/** Finds the book by the first field of a line. Default: the field is the number of the book. */
export type FindBook = (owner: string) => Promise<BookId | undefined>

const UNKNOWN_OWNER = 'There is no open account of this e-mail address, account id or book number.'

type StoreKey = (book: BookId, plain: string) => Promise<{ isRepeat: boolean }>

/**
 * One report per line that is not empty. A line is `owner key`, or JSON: `{"book": …, "key": …}`
 * or `{"account": …, "key": …}`. A fault (the database became unavailable) ends the import; keys
 * that were reported as imported stay.
 */
export async function* importLines(
  lines: AsyncIterable<string> | Iterable<string>,
  findBook: FindBook,
  store: StoreKey,
): AsyncGenerator<ImportReport> {
  let line = 0
  for await (const text of lines) {
    line += 1
    if (text.trim() !== '') yield { line, ...(await importLine(text.trim(), findBook, store)) }
  }
}

async function importLine(
  text: string,
  findBook: FindBook,
  store: StoreKey,
): Promise<Omit<ImportReport, 'line'>> {
  const refused = { outcome: 'refused', last4: null, book: null } as const
  const read = text.startsWith('{') ? readJson(text) : readPlain(text)
  if (read === undefined) return { ...refused, sentence: 'Neither "owner key" nor JSON with both.' }
  const last4 = read.plain.length < IMPORTED_SECRET_MIN ? null : last4Of(read.plain)
  const book = await findBook(read.owner)
  if (book === undefined) return { ...refused, last4, sentence: UNKNOWN_OWNER }
  try {
    const { isRepeat } = await store(book, read.plain)
    return isRepeat
      ? { outcome: 'repeated', last4, book, sentence: 'Imported before.' }
      : { outcome: 'imported', last4, book, sentence: 'Imported.' }
  } catch (error) {
    // Other refusals, such as key_checks_overloaded, do not depend on this line: end the import.
    if (!isRefusal(error, ...keyImportRefusalCodes)) throw error
    return { ...refused, last4, book, sentence: error.message }
  }
}

type ImportLine = { readonly owner: string; readonly plain: string }

function readPlain(text: string): ImportLine | undefined {
  const [owner, plain, more] = text.split(/\s+/)
  if (owner === undefined || plain === undefined || more !== undefined) return undefined
  return { owner, plain }
}

function readJson(text: string): ImportLine | undefined {
  const value = parseJson(text)
  if (typeof value !== 'object' || value === null) return undefined
  const { book, account, key } = value as Record<string, unknown>
  const owner = book ?? account
  if (typeof key !== 'string') return undefined
  // JSON.parse rounds a number above 2^53, so such a book must be written as a string.
  if (typeof owner === 'string') return { owner, plain: key }
  return Number.isSafeInteger(owner) ? { owner: String(owner), plain: key } : undefined
}

// The error of JSON.parse quotes the text, which contains a key: do not pass it on.
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
