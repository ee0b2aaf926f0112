// Finds the account that a command is about: by its id, whole e-mail address, book, key or one of
// its orders. Only exact matches count, because credits follow; `op find` also searches by parts.
import type { FoundAccount } from '../../accounts/accounts.ts'
import type { Book } from '../../ledger/ledger.ts'
import type { BookId } from '../../platform/ids.ts'
import { formatCredits } from './amounts.ts'
import { commandError } from './command-error.ts'
import type { Desk } from './desk.ts'
import { suggestion } from './nearest.ts'

export type Customer = {
  readonly book: Book
  /** Undefined for a book without an owner. */
  readonly account: FoundAccount | undefined
}

/** How many addresses are compared for a suggestion. */
const GUESSED_MAX = 200

export async function findCustomer(desk: Desk, text: string): Promise<Customer> {
  const book = await bookOf(desk, text.trim())
  if (book !== undefined) return customerOfBook(desk, book)
  throw commandError(await unknownCustomer(desk, text.trim()))
}

export async function customerOfBook({ modules }: Desk, id: BookId): Promise<Customer> {
  const book = await modules.ledger.balance(id)
  if (book === undefined) throw commandError(`there is no book ${id}`)
  const [account] = await modules.accounts.search(String(id), 1)
  return { book, account: account?.book === id ? account : undefined }
}

async function bookOf(desk: Desk, text: string): Promise<BookId | undefined> {
  const { accounts, keys, payments } = desk.modules
  if (isBookNumber(text)) return BigInt(text) as BookId
  if (/^(?:pay|rfd|dsp)_/.test(text)) return (await payments.search(text))?.order?.book
  if (text.startsWith('key_')) return (await keys.search(text, 1))[0]?.book
  const found = await accounts.search(text, GUESSED_MAX)
  return found.find(({ id, email }) => id === text || email === text.toLowerCase())?.book
}

export function isBookNumber(text: string): boolean {
  return /^[1-9]\d{0,17}$/.test(text)
}

/** Removes the mask that `op` puts in place of all but a pasted key's last four characters. */
export function keyEnd(text: string): string {
  return text.replace(/^sk-…/, '')
}

/** The sentence for an unknown customer, with the closest address as a suggestion. */
export async function unknownCustomer(
  { modules }: Pick<Desk, 'modules'>,
  text: string,
): Promise<string> {
  const [name = '', domain = ''] = text.split('@')
  // A typing error is rarely in both halves of an address, or in its first letters.
  const near = [name.slice(0, 3), domain.slice(0, 4), name.slice(-3)].filter((part) => part !== '')
  const found = await Promise.all(near.map((part) => modules.accounts.search(part, GUESSED_MAX)))
  const emails = found.flat().map(({ email }) => email)
  return `there is no account of ${text}${suggestion(text, emails)}`
}

/** The first line of a plan without the balance, which changes while somebody decides. */
export function customerName({ book, account }: Customer): string {
  return `${account?.email ?? 'a book without an owner'} (book ${book.id})`
}

/** `anna@example.org (book 42, 34 998 712.5 available)`, the first line of a plan. */
export function customerTitle({ book, account }: Customer): string {
  const who = account === undefined ? 'a book without an owner' : account.email
  const closed = account?.closedAt ? ', CLOSED' : ''
  return `${who}${closed} (book ${book.id}, ${formatCredits(book.available)} available)`
}
