// op signals: what accounts of one person often have in common. A signal is a reason to look, never
// a reason to refuse: families share cards, and banks have millions of payers.
import type { Signals } from '../../payments/payments.ts'
import type { BookId } from '../../platform/ids.ts'
import { rublesText } from '../../units/kopecks.ts'
import { formatCount, formatMinute, parseCount } from '../desk/amounts.ts'
import { EXIT_DONE, usageError } from '../desk/command-error.ts'
import type { Desk } from '../desk/desk.ts'
import { tableOf } from '../desk/table.ts'

const DAYS = 30
/** What links payers is kept for 180 days. */
const DAYS_MAX = 180
/** Accounts that a line names; `--json` has all. */
const NAMED_MAX = 3
/** May be wider than the terminal, but is never cut: operators copy rows into tickets. */
const WIDTH_MAX = 240

const COLUMNS = [
  { head: 'signal' },
  { head: 'of' },
  { head: 'count', side: 'right' },
  { head: 'first, UTC' },
  { head: 'last, UTC' },
  { head: 'accounts' },
] as const

export async function listSignals(desk: Desk): Promise<number> {
  const days = desk.read('days', parseCount, 'a whole number above 0') ?? DAYS
  if (days > DAYS_MAX) throw usageError(`--days is 1 to ${DAYS_MAX}`)
  const signals = await desk.modules.payments.signals(days)
  const names = await namesOf(desk, signals)
  const named = (books: readonly BookId[]) => books.map((book) => ({ book, name: names(book) }))
  const result = {
    cards: signals.cards.map((one) => ({ ...one, books: named(one.books) })),
    banks: signals.banks.map((one) => ({ ...one, books: named(one.books) })),
    refunds: signals.refunds.map(({ amount, ...one }) => ({
      ...one,
      ...{ name: names(one.book), amount: rublesText(amount) },
    })),
    tries: signals.tries.map((one) => ({ ...one, name: names(one.book) })),
  }
  desk.say({ days, ...result }, linesOf(signals, names, days))
  return EXIT_DONE
}

/** The address of each account; a closed account is named by its book. */
export async function namesOf(
  { modules }: { readonly modules: Pick<Desk['modules'], 'accounts'> },
  signals: Signals,
) {
  const books = [
    ...[...signals.cards, ...signals.banks].flatMap((one) => one.books),
    ...[...signals.refunds, ...signals.tries].map((one) => one.book),
  ]
  const names = new Map<BookId, string>()
  for (const book of new Set(books)) {
    names.set(book, (await modules.accounts.ownerOf(book))?.email ?? `book ${book}`)
  }
  return (book: BookId) => names.get(book) ?? `book ${book}`
}

function linesOf(
  { cards, banks, refunds, tries }: Signals,
  name: (book: BookId) => string,
  days: number,
): string[] {
  const list = (books: readonly BookId[]) => {
    const more = books.length > NAMED_MAX ? ` and ${books.length - NAMED_MAX} more` : ''
    return `${books.slice(0, NAMED_MAX).map(name).join(', ')}${more}`
  }
  const between = ({ first, last }: { first: Date; last: Date }) => [
    formatMinute(first),
    formatMinute(last),
  ]
  const rows = [
    ...cards.map((one) => [
      ...['card', one.card, formatCount(one.books.length), ...between(one), list(one.books)],
    ]),
    ...banks.map((one) => [
      ...['bank and code', `${one.bank} ${one.code}`, formatCount(one.books.length)],
      ...[...between(one), list(one.books)],
    ]),
    ...refunds.map((one) => [
      ...['refunds', `${rublesText(one.amount)} ₽`, formatCount(one.refunds)],
      ...[...between(one), name(one.book)],
    ]),
    ...tries.map((one) => [
      ...['tried codes', '', formatCount(one.tries), formatMinute(one.since), '', name(one.book)],
    ]),
  ]
  if (rows.length === 0) return [`no signal in the last ${formatCount(days)} days`]
  return tableOf(COLUMNS, rows, WIDTH_MAX)
}
