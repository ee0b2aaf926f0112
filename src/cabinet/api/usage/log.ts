// The owner's request log: pages of requests, newest first, and one request with everything that
// explains its price. The content of requests is stored nowhere.
import { z } from 'zod'
import type { Entry, Ledger } from '../../../ledger/ledger.ts'
import { assert } from '../../../platform/assert.ts'
import { type BookId, holdIdOf, requestIdOf } from '../../../platform/ids.ts'
import { zoneOf } from '../../../platform/zone.ts'
import { micro } from '../../../units/credits.ts'
import type * as contract from '../../contract/usage.ts'
import { CabinetRefusal } from '../../refusals.ts'
import { creditsOf, timeOf } from '../amounts.ts'
import type { RouteTable } from '../routes.ts'
import { chargeOf, noCharge } from './charge.ts'
import { periodFields, zoneToday } from './period.ts'

const PAGE = 50
const PAGE_MAX = 200

const CHARGED = ['complete', 'client_left', 'client_slow'] as const
const FREE = [
  ...(['refused', 'upstream_failed', 'process_lost', 'given_up'] as const),
  ...(['overdue', 'drained', 'shed'] as const),
]

export function logRoutes({
  ledger: { usage },
}: {
  readonly ledger: Pick<Ledger, 'usage'>
}): RouteTable<'GET /api/log' | 'GET /api/log/:id'> {
  async function between({ from, to, zone }: contract.LogFilter) {
    if (from === undefined && to === undefined) return { from: null, to: null }
    const known = await zoneToday(usage, zoneOf(zone))
    return usage.period({ zone: known.zone, from: from ?? null, to: to ?? null })
  }

  return {
    'GET /api/log': {
      session: 'required',
      query: z.object({
        ...periodFields,
        model: z.string().max(200).optional(),
        ending: z.enum([...CHARGED, ...FREE, 'charged', 'free']).optional(),
        before: z
          .string()
          .regex(/^[1-9]\d{0,17}$/)
          .optional(),
        limit: z.coerce.number().int().min(1).max(PAGE_MAX).optional(),
      }),
      async run({ session, query }) {
        const { entries, next, models } = await usage.page({
          ...(await between(query)),
          book: session.book,
          model: query.model ?? null,
          endings: endingsOf(query.ending),
          before: query.before === undefined ? null : BigInt(query.before),
          limit: query.limit ?? PAGE,
        })
        return { lines: entries.map(lineOf), next: next === null ? null : String(next), models }
      },
    },

    'GET /api/log/:id': {
      session: 'required',
      run: async ({ session, params }) => requestOf(await find(session.book, params.id)),
    },
  }

  async function find(book: BookId, text: string): Promise<Entry> {
    const id = holdIdOf(text)
    const entry = id === undefined ? undefined : await usage.find(book, id)
    if (entry !== undefined) return entry
    throw new CabinetRefusal('request_unknown', 'There is no such request.')
  }
}

function endingsOf(filter: contract.LogFilter['ending']): contract.Ending[] | null {
  if (filter === undefined) return null
  if (filter === 'charged') return [...CHARGED]
  return filter === 'free' ? [...FREE] : [filter]
}

function lineOf(entry: Entry): contract.LogLine {
  const { holdId, model, ending } = entry
  assert(
    holdId !== null && model !== null && ending !== null,
    `entry ${entry.seq} is not a request`,
  )
  return {
    id: requestIdOf(holdId),
    at: timeOf(entry.at),
    model,
    ending,
    reason: entry.kind === 'void' ? entry.note : null,
    input: String(entry.input ?? 0n),
    output: String(entry.output ?? 0n),
    cacheRead: String(entry.cacheRead ?? 0n),
    cacheWrite5m: String(entry.cacheWrite5m ?? 0n),
    cacheWrite1h: String(entry.cacheWrite1h ?? 0n),
    // An entry's amount is what it adds to the book, so the amount of a charge is negative.
    credits: creditsOf(micro(-entry.amount)),
    isEstimated: entry.isEstimated ?? false,
  }
}

function requestOf(entry: Entry): contract.LogDetails {
  const isCharged = entry.kind === 'charge'
  return {
    ...lineOf(entry),
    catalogueVersion: isCharged ? entry.catalogueVersion : null,
    ...(isCharged ? chargeOf(entry) : noCharge),
    priced: creditsOf(entry.priced ?? micro(0n)),
    writtenOff: creditsOf(entry.writtenOff ?? micro(0n)),
    balanceAfter: creditsOf(entry.balance),
    messageId: entry.messageId,
  }
}
