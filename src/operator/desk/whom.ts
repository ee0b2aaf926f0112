// Whom a command is about: an account, by its id, its whole address, its book, its key or one of
// its orders. Reading commands may guess; these do not, because credits follow.
import type { FoundAccount } from '../../accounts/accounts.ts'
import type { Book } from '../../ledger/ledger.ts'
import type { BookId } from '../../platform/ids.ts'
import type { Desk } from './desk.ts'
import { creditsShown } from './figures.ts'
import { absent } from './halt.ts'
import { guess } from './nearest.ts'

export type Whom = {
  readonly book: Book
  /** Undefined for a book without an owner. */
  readonly account: FoundAccount | undefined
}

/** How many addresses are looked at for a guess. */
const GUESSED_MAX = 200

export async function whom(desk: Desk, text: string): Promise<Whom> {
  const book = await bookOf(desk, text.trim())
  if (book !== undefined) return whomOf(desk, book)
  throw absent(await unknownWhom(desk, text.trim()))
}

export async function whomOf({ rooms }: Desk, id: BookId): Promise<Whom> {
  const book = await rooms.ledger.balance(id)
  if (book === undefined) throw absent(`there is no book ${id}`)
  const [account] = await rooms.accounts.search(String(id), 1)
  return { book, account: account?.book === id ? account : undefined }
}

async function bookOf(desk: Desk, text: string): Promise<BookId | undefined> {
  const { accounts, keys, payments } = desk.rooms
  if (isBookNumber(text)) return BigInt(text) as BookId
  if (/^(?:pay|rfd|dsp)_/.test(text)) return (await payments.search(text))?.order?.book
  if (text.startsWith('key_')) return (await keys.search(text, 1))[0]?.book
  const found = await accounts.search(text, GUESSED_MAX)
  return found.find(({ id, email }) => id === text || email === text.toLowerCase())?.book
}

export function isBookNumber(text: string): boolean {
  return /^[1-9]\d{0,17}$/.test(text)
}

/** Of a whole key only the end is left by the time a command sees it. */
export function keyEnd(text: string): string {
  return text.replace(/^sk-…/, '')
}

/** A sentence about something that is nobody's, with the likeliest slip. */
export async function unknownWhom({ rooms }: Desk, text: string): Promise<string> {
  const [name = '', domain = ''] = text.split('@')
  // A slip is rarely in both halves of an address, nor in its first letters.
  const near = [name.slice(0, 3), domain.slice(0, 4), name.slice(-3)].filter((part) => part !== '')
  const found = await Promise.all(near.map((part) => rooms.accounts.search(part, GUESSED_MAX)))
  const emails = found.flat().map(({ email }) => email)
  return `there is no account of ${text}${guess(text, emails)}`
}

/** `anna@example.org (book 42, 34 998 712.5 available)`, for the head of a plan. */
export function named({ book, account }: Whom): string {
  const who = account === undefined ? 'a book without an owner' : account.email
  const closed = account?.closedAt ? ', CLOSED' : ''
  return `${who}${closed} (book ${book.id}, ${creditsShown(book.available)} available)`
}
