// op usage refused: how often requests were refused, and why: of one account, or the accounts and
// reasons with the most of them. Days are in UTC, today included. The newest counts are a few
// seconds old: each process writes its own every five.
import type { RefusedOfBook } from '../ledger/ledger.ts'
import type { BookId } from '../platform/ids.ts'
import { formatCount, formatMinute, parseCount } from './desk/amounts.ts'
import { EXIT_DONE, usageError } from './desk/command-error.ts'
import { customerTitle, findCustomer } from './desk/customer.ts'
import type { Desk } from './desk/desk.ts'
import { tableOf } from './desk/table.ts'

const DAYS = 7
/** About two screens. */
const LIMIT = 50
const LIMIT_MAX = 1_000

const REASON_COLUMNS = [
  { head: 'reason' },
  { head: 'requests', side: 'right' },
  { head: 'last, UTC' },
] as const
const COLUMNS = [{ head: 'book', side: 'right' }, ...REASON_COLUMNS] as const

export async function listRefused(desk: Desk, whom?: string): Promise<number> {
  const { listMost, keptDays } = desk.modules.ledger.usage.refused
  const days = desk.read('days', parseCount, 'a whole number above 0') ?? DAYS
  if (days > keptDays) throw usageError(`--days is 1 to ${keptDays}`)
  const limit = desk.read('limit', parseCount, 'a whole number above 0') ?? LIMIT
  if (limit > LIMIT_MAX) throw usageError(`--limit is 1 to ${LIMIT_MAX}`)
  const customer = whom === undefined ? undefined : await findCustomer(desk, whom)
  const book = customer?.book.id ?? null
  const refused = await listMost({ book, days, limit })
  const title = customer === undefined ? [] : [customerTitle(customer)]
  desk.say({ days, refused }, [...title, ...linesOf(refused, days, book, desk.columns)])
  return EXIT_DONE
}

function linesOf(
  refused: readonly RefusedOfBook[],
  days: number,
  book: BookId | null,
  width: number,
): string[] {
  if (refused.length === 0) {
    return [`no request was refused in the last ${formatCount(days)} days`]
  }
  const rows = refused.map(({ reason, requests, lastAt, ...of }) => [
    ...(book === null ? [String(of.book)] : []),
    ...[reason, formatCount(requests), formatMinute(lastAt)],
  ])
  return tableOf(book === null ? COLUMNS : REASON_COLUMNS, rows, width)
}
