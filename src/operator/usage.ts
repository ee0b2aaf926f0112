// op usage unknown: what replies reported that the catalogue does not list. Nothing of it was
// charged, except values of a priced dimension, which cost the dearest listed one; so each is a
// price that the operator should look up and add.
import type { UnlistedUsage } from '../ledger/ledger.ts'
import { formatCount, formatMinute, parseCount } from './desk/amounts.ts'
import { EXIT_DONE, EXIT_FAILED, usageError } from './desk/command-error.ts'
import type { Desk } from './desk/desk.ts'
import { tableOf } from './desk/table.ts'

const DAYS = 30
/** Entries are kept for 400 days by default. */
const DAYS_MAX = 400

const COLUMNS = [
  { head: 'model' },
  { head: 'member' },
  { head: 'replies', side: 'right' },
  { head: 'first, UTC' },
  { head: 'last, UTC' },
] as const

/** Exits with 1 when there is something. */
export async function listUnknownUsage(desk: Desk): Promise<number> {
  const days = desk.read('days', parseCount, 'a whole number above 0') ?? DAYS
  if (days > DAYS_MAX) throw usageError(`--days is 1 to ${DAYS_MAX}`)
  const unknown = await desk.modules.ledger.unlistedUsage(days)
  desk.say({ days, unknown }, linesOf(unknown, days, desk.columns))
  return unknown.length === 0 ? EXIT_DONE : EXIT_FAILED
}

function linesOf(unknown: readonly UnlistedUsage[], days: number, width: number): string[] {
  if (unknown.length === 0) {
    return [`no reply of the last ${formatCount(days)} days has usage that the catalogue lacks`]
  }
  const rows = unknown.map(({ model, member, replies, firstAt, lastAt }) => [
    ...[model, member, formatCount(replies), formatMinute(firstAt), formatMinute(lastAt)],
  ])
  return tableOf(COLUMNS, rows, width)
}
