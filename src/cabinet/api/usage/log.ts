// The owner's request log: pages of requests, newest first, and one request with everything that
// explains its price. The content of requests is stored nowhere.
import { z } from 'zod'
import type { Entry, Ledger } from '../../../ledger/ledger.ts'
import { assert } from '../../../platform/assert.ts'
import { dateAt } from '../../../platform/clock.ts'
import { type BookId, holdIdOf, requestIdOf } from '../../../platform/ids.ts'
import { zoneOf } from '../../../platform/zone.ts'
import { micro } from '../../../units/credits.ts'
import { endings, freeEndings, paidEndings } from '../../../units/endings.ts'
import type * as contract from '../../contract/usage.ts'
import { CabinetRefusal } from '../../refusals.ts'
import { creditsOf, timeOf } from '../amounts.ts'
import type { RouteTable } from '../routes.ts'
import { chargeOf, noCharge } from './charge.ts'
import { periodFields, zoneToday } from './period.ts'
import type { UsageReads } from './reads.ts'

const PAGE = 50
const PAGE_MAX = 200
const HOUR_MS = 3_600_000

/** The number of an entry, where a page ended. */
export const entryNumber = z
  .string()
  .regex(/^[1-9]\d{0,17}$/)
  .optional()
/** A session, agent or label: the ledger records at most 64 characters. */
export const clientId = z.string().min(1).max(64)

export function logRoutes({
  ledger: { usage },
  reads,
}: {
  readonly ledger: Pick<Ledger, 'usage'>
  readonly reads: UsageReads
}): RouteTable<'GET /api/log' | 'GET /api/log/:id'> {
  async function between({ from, to, zone, hour }: contract.LogFilter) {
    if (hour !== undefined) {
      const ms = Date.parse(hour)
      return { from: dateAt(ms), to: dateAt(ms + HOUR_MS) }
    }
    if (from === undefined && to === undefined) return { from: null, to: null }
    const known = await zoneToday(usage, zoneOf(zone))
    return usage.period({ zone: known.zone, from: from ?? null, to: to ?? null })
  }

  return {
    'GET /api/log': {
      session: 'required',
      query: z.object({
        ...periodFields,
        hour: z.iso.datetime().optional(),
        model: z.string().max(200).optional(),
        ending: z.enum([...endings, 'charged', 'free']).optional(),
        session: clientId.optional(),
        agent: clientId.optional(),
        label: clientId.optional(),
        before: entryNumber,
        limit: z.coerce.number().int().min(1).max(PAGE_MAX).optional(),
      }),
      async run({ session, query }) {
        const { book } = session
        const filter = {
          book,
          model: query.model ?? null,
          endings: endingsOf(query.ending),
          session: query.session ?? null,
          agent: query.agent ?? null,
          label: query.label ?? null,
          before: query.before === undefined ? null : BigInt(query.before),
          limit: query.limit ?? PAGE,
        }
        const { entries, next, models } = await reads.inTurn(book, async () =>
          usage.page({ ...(await between(query)), ...filter }),
        )
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
    const entry =
      id === undefined ? undefined : await reads.inTurn(book, () => usage.find(book, id))
    if (entry !== undefined) return entry
    throw new CabinetRefusal('request_unknown', 'There is no such request.')
  }
}

function endingsOf(filter: contract.LogFilter['ending']): contract.Ending[] | null {
  if (filter === undefined) return null
  if (filter === 'charged') return [...paidEndings]
  return filter === 'free' ? [...freeEndings] : [filter]
}

function lineOf(entry: Entry): contract.LogLine {
  const { holdId, model, ending, details } = entry
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
    // Null, not 0, for entries from before these were recorded.
    firstByteMs: details.firstByteMs ?? null,
    totalMs: details.totalMs ?? null,
    isStream: details.isStream ?? null,
    stopReason: details.stopReason ?? null,
    errorType: details.errorType ?? null,
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
