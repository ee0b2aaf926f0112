// op accounts busiest: which accounts use most of what accounts share, summed over all gateway
// processes of the last half minute, and how often each was refused or shed.
import type { Upstreams } from '../upstreams/upstreams.ts'
import { formatCount } from './desk/amounts.ts'
import { EXIT_DONE } from './desk/command-error.ts'
import type { Desk } from './desk/desk.ts'
import { tableOf } from './desk/table.ts'

const COLUMNS = [
  { head: 'shared' },
  { head: 'book', side: 'right' },
  { head: 'account' },
  { head: 'used', side: 'right' },
  { head: 'part', side: 'right' },
  { head: 'refused', side: 'right' },
  { head: 'shed', side: 'right' },
  { head: 'processes', side: 'right' },
] as const

/** May be wider than the terminal, but is never cut: operators copy rows into tickets. */
const WIDTH_MAX = 200

export async function listBusiest(desk: Desk): Promise<number> {
  const { upstreams, accounts } = desk.modules
  const busiest = await upstreams.busiest()
  const emails = new Map<bigint, string>()
  for (const { book } of busiest) {
    if (!emails.has(book)) emails.set(book, (await accounts.ownerOf(book))?.email ?? '')
  }
  const named = busiest.map((one) => ({ ...one, email: emails.get(one.book) ?? '' }))
  desk.say({ busiest: named }, linesOf(named))
  return EXIT_DONE
}

type Busy = Awaited<ReturnType<Upstreams['busiest']>>[number] & { readonly email: string }

function linesOf(busiest: readonly Busy[]): string[] {
  if (busiest.length === 0)
    return ['no gateway process reported an account in the last half minute']
  const rows = busiest.map((one) => [
    ...[one.of, String(one.book), one.email, formatCount(one.used)],
    `${Math.round((100 * one.used) / one.capacity)} %`,
    ...[one.refused, one.shed, one.processes].map(formatCount),
  ])
  return tableOf(COLUMNS, rows, WIDTH_MAX)
}
