// Reads keys of another service once, line by line, and reports on each without showing one. What
// is stored of a key is the door's affair; a line that is refused changes nothing, and the whole
// import may be repeated.
import type { BookId } from '../platform/ids.ts'
import { isRefusal } from '../platform/refusal.ts'
import { IMPORTED_SECRET_MIN, last4Of } from './secret.ts'

export type ImportReport = {
  /** From 1. */
  readonly line: number
  readonly outcome: 'imported' | 'repeated' | 'refused'
  /** Null when the line held nothing long enough for four characters to give nothing away. */
  readonly last4: string | null
  readonly book: BookId | null
  readonly sentence: string
}

/** What a line names its owner by, to the book: a book's number, or whatever the caller knows. */
export type BookOf = (owner: string) => Promise<BookId | undefined>

type Store = (book: BookId, plain: string) => Promise<{ isRepeat: boolean }>

/**
 * One report per line that is not empty. A line is `owner key`, or JSON: `{"book": …, "key": …}`
 * or `{"account": …, "key": …}`. A fault (the database went away) ends it; what was reported
 * as imported stays so.
 */
export async function* importLines(
  lines: AsyncIterable<string> | Iterable<string>,
  bookOf: BookOf,
  store: Store,
): AsyncGenerator<ImportReport> {
  let line = 0
  for await (const text of lines) {
    line += 1
    if (text.trim() !== '') yield { line, ...(await importLine(text.trim(), bookOf, store)) }
  }
}

async function importLine(
  text: string,
  bookOf: BookOf,
  store: Store,
): Promise<Omit<ImportReport, 'line'>> {
  const refused = { outcome: 'refused', last4: null, book: null } as const
  const read = text.startsWith('{') ? readJson(text) : readPlain(text)
  if (read === undefined) return { ...refused, sentence: 'Not "owner key", nor JSON of both.' }
  const last4 = read.plain.length < IMPORTED_SECRET_MIN ? null : last4Of(read.plain)
  const book = await bookOf(read.owner)
  if (book === undefined) return { ...refused, last4, sentence: 'There is no such account.' }
  try {
    const { isRepeat } = await store(book, read.plain)
    return isRepeat
      ? { outcome: 'repeated', last4, book, sentence: 'Imported before.' }
      : { outcome: 'imported', last4, book, sentence: 'Imported.' }
  } catch (error) {
    const isAboutTheLine =
      isRefusal(error, 'key_malformed') ||
      isRefusal(error, 'key_import_refused') ||
      isRefusal(error, 'book_unknown')
    if (!isAboutTheLine) throw error
    return { ...refused, last4, book, sentence: error.message }
  }
}

type Line = { readonly owner: string; readonly plain: string }

function readPlain(text: string): Line | undefined {
  const [owner, plain, more] = text.split(/\s+/)
  if (owner === undefined || plain === undefined || more !== undefined) return undefined
  return { owner, plain }
}

function readJson(text: string): Line | undefined {
  const value = parsed(text)
  if (typeof value !== 'object' || value === null) return undefined
  const { book, account, key } = value as Record<string, unknown>
  const owner = book ?? account
  if (typeof key !== 'string') return undefined
  // A number above 2^53 would have been rounded by now: such a book is written as a string.
  if (typeof owner === 'string') return { owner, plain: key }
  return Number.isSafeInteger(owner) ? { owner: String(owner), plain: key } : undefined
}

// The parser's complaint quotes the text, and the text is a key: it goes no further.
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
