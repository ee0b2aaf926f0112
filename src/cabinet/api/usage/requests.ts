// The owner's latest requests, from the ledger's entries: what each cost and how it ended. Their
// content is stored nowhere.
import type { Book, Entry, Ledger } from '../../../ledger/ledger.ts'
import { assert } from '../../../platform/assert.ts'
import { type BookId, requestIdOf } from '../../../platform/ids.ts'
import { type Credits, micro } from '../../../units/credits.ts'
import type * as contract from '../../contract/contract.ts'
import { creditsOf, timeOf } from '../amounts.ts'

/** As many as fit on a screen. */
const LATEST = 20

/** Newest first. */
export async function latestRequests(
  usage: Pick<Ledger['usage'], 'page'>,
  book: BookId,
): Promise<readonly Entry[]> {
  const any = {
    ...{ model: null, endings: null, before: null, from: null, to: null },
    ...{ session: null, agent: null, label: null },
  }
  return (await usage.page({ ...any, book, limit: LATEST })).entries
}

export async function requestsOf(
  usage: Pick<Ledger['usage'], 'page'>,
  { id, requests }: Pick<Book, 'id' | 'requests'>,
): Promise<contract.RecentRequests> {
  const latest = await latestRequests(usage, id)
  return { total: String(requests), latest: latest.map(lineOf) }
}

function lineOf(entry: Entry): contract.RequestLine {
  assert(entry.holdId !== null, `entry ${entry.seq} is a request without a hold`)
  const cacheWrite = (entry.cacheWrite5m ?? 0n) + (entry.cacheWrite1h ?? 0n)
  return {
    requestId: requestIdOf(entry.holdId),
    at: timeOf(entry.at),
    model: entry.model,
    ending: entry.ending,
    input: String(entry.input ?? 0n),
    output: String(entry.output ?? 0n),
    cacheRead: String(entry.cacheRead ?? 0n),
    cacheWrite: String(cacheWrite),
    credits: creditsOf(spent(entry)),
    isFree: entry.kind === 'void',
  }
}

/** An entry's amount is what it adds to the book. */
function spent({ amount }: Entry): Credits {
  return micro(-amount)
}
