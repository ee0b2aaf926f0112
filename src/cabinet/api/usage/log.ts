// The request log as its owner reads it: pages of requests, newest first, and one's arithmetic.
// Tokens times weights are the price, to the microcredit; what was said is kept nowhere.
import { z } from 'zod'
import type { Entry, Ledger } from '../../../ledger/ledger.ts'
import { assert } from '../../../platform/assert.ts'
import { type BookId, holdIdOf, requestIdOf } from '../../../platform/ids.ts'
import { zoneOf } from '../../../platform/zone.ts'
import { micro } from '../../../units/credits.ts'
import { costOf, type Millionths, millionthsText, ONE } from '../../../units/price.ts'
import { tokens } from '../../../units/tokens.ts'
import { OwnNo } from '../../answers.ts'
import type * as contract from '../../contract/usage.ts'
import { creditsOf, timeOf } from '../amounts.ts'
import type { Table } from '../routes.ts'
import { periodFields, zoneToday } from './period.ts'

const PAGE = 50
const PAGE_MAX = 200

const CHARGED = ['complete', 'client_left'] as const
const FREE = ['refused', 'upstream_failed', 'process_lost', 'given_up', 'overdue'] as const

export function logRoutes({
  ledger: { usage },
}: {
  readonly ledger: Pick<Ledger, 'usage'>
}): Table<'GET /api/log' | 'GET /api/log/:id'> {
  async function between({ from, to, zone }: contract.LogFilter) {
    if (from === undefined && to === undefined) return { from: null, to: null }
    const known = await zoneToday(usage, zoneOf(zone))
    return usage.period({ zone: known.zone, from: from ?? null, to: to ?? null })
  }

  return {
    'GET /api/log': {
      session: 'needed',
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
      session: 'needed',
      run: async ({ session, params }) => requestOf(await find(session.book, params.id)),
    },
  }

  async function find(book: BookId, text: string): Promise<Entry> {
    const id = holdIdOf(text)
    const entry = id === undefined ? undefined : await usage.find(book, id)
    if (entry !== undefined) return entry
    throw new OwnNo('request_unknown', 'There is no such request.')
  }
}

function endingsOf(asked: contract.LogFilter['ending']): contract.Ending[] | null {
  if (asked === undefined) return null
  if (asked === 'charged') return [...CHARGED]
  return asked === 'free' ? [...FREE] : [asked]
}

function lineOf(entry: Entry): contract.LogLine {
  const { holdId, model, ending } = entry
  assert(holdId !== null && model !== null && ending !== null, `entry ${entry.seq} is no request`)
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
    // An entry's amount is what it adds to the book.
    credits: creditsOf(micro(-entry.amount)),
    isEstimated: entry.isEstimated ?? false,
  }
}

function requestOf(entry: Entry): contract.LoggedRequest {
  const isCharged = entry.kind === 'charge'
  return {
    ...lineOf(entry),
    catalogueVersion: isCharged ? entry.catalogueVersion : null,
    parts: isCharged ? partsOf(entry) : [],
    priced: creditsOf(entry.priced ?? micro(0n)),
    writtenOff: creditsOf(entry.writtenOff ?? micro(0n)),
    balanceAfter: creditsOf(entry.balance),
    messageId: entry.messageId,
  }
}

function partsOf(entry: Entry): contract.PricedPart[] {
  const { price, seq } = entry
  assert(price !== null, `charge ${seq} has no tariff`)
  const all: [contract.PartKind, bigint | null, Millionths][] = [
    ['input', entry.input, ONE],
    ['output', entry.output, price.coefficient],
    ['cacheRead', entry.cacheRead, price.cacheRead],
    ['cacheWrite5m', entry.cacheWrite5m, price.cacheWrite5m],
    ['cacheWrite1h', entry.cacheWrite1h, price.cacheWrite1h],
  ]
  const parts = all.map(([kind, count, each]) => ({
    ...{ kind, each, count: tokens(count ?? 0n), cost: costOf(tokens(count ?? 0n), each) },
  }))
  // Better no page than one whose sums do not add up; the audit would have found it too.
  const sum = parts.reduce((total, { cost }) => total + cost, 0n)
  assert(sum === entry.priced, `charge ${seq} is priced ${entry.priced}, its parts are ${sum}`)
  return parts
    .filter(({ kind, count }) => kind === 'input' || kind === 'output' || count > 0n)
    .map(({ kind, each, count, cost }) => ({
      kind,
      tokens: String(count),
      weight: millionthsText(each),
      credits: creditsOf(cost),
    }))
}
