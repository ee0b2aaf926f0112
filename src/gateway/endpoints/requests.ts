// GET /v1/requests and /v1/requests/{id}: what the requests of the account behind the key cost, and
// why. This is also how the cost of a stream is learnt: its entry is committed before the last
// event is sent. Every read names the book of the key, so a request of another account is as
// unknown as one that never was. The content of requests is stored nowhere.
import type { Ending, Entry } from '../../ledger/ledger.ts'
import { assert } from '../../platform/assert.ts'
import { holdIdOf, requestIdOf } from '../../platform/ids.ts'
import { type ChargeLine, chargeLines } from '../../units/charge-lines.ts'
import { creditsText, micro } from '../../units/credits.ts'
import { freeEndings, paidEndings } from '../../units/endings.ts'
import { millionthsText } from '../../units/price.ts'
import type { TokenCounts } from '../../units/tokens.ts'
import { authenticate } from '../2-authenticate.ts'
import type { Exchange } from '../exchange.ts'
import type { Modules } from '../modules.ts'
import { gatewayRefusal } from '../refusals.ts'
import { writeJson } from './json.ts'
import {
  cursorOf,
  dayOrTime,
  limitOf,
  oneOf,
  type Parameters,
  parametersOf,
  positionIn,
  zoneIn,
} from './parameters.ts'
import { knownZone, readAs } from './reads.ts'

const PAGE_DEFAULT = 20
/**
 * A page of 100 has about 60 KB. The database takes 11 ms for 50 rare matches on 50 days
 * (log-queries.ts), so about twice as long for the slowest page.
 */
const PAGE_MAX = 100
/** Entries of a book are numbered; a number has at most 18 digits. */
const POSITION = /^[1-9]\d{0,17}$/

const filters = ['model', 'ending', 'session', 'label', 'from', 'to', 'zone'] as const
type Filters = Parameters<(typeof filters)[number]>

export async function getRequests(exchange: Exchange, modules: Modules): Promise<void> {
  const caller = await authenticate(exchange, modules.keys, modules.settings.slug)
  const given = parametersOf(exchange, [...filters, 'limit', 'cursor'])
  const limit = limitOf(given.limit, PAGE_DEFAULT, PAGE_MAX)
  const position = positionIn('requests', given.cursor, POSITION)
  const filter = {
    model: given.model ?? null,
    endings: endingsOf(given),
    session: given.session ?? null,
    agent: null,
    label: given.label ?? null,
    before: position === undefined ? null : BigInt(position),
    limit,
  }
  const readRange = rangeOf(given, modules)
  const page = await readAs(caller, exchange, modules, async (book) =>
    modules.ledger.usage.page({ ...filter, ...(await readRange()), book }),
  )
  writeJson(exchange, {
    object: 'list',
    data: page.entries.map(requestObject),
    has_more: page.next !== null,
    next_cursor: page.next === null ? null : cursorOf('requests', String(page.next)),
  })
}

export async function getRequest(exchange: Exchange, modules: Modules, id: string): Promise<void> {
  const caller = await authenticate(exchange, modules.keys, modules.settings.slug)
  parametersOf(exchange, [])
  const hold = holdIdOf(id)
  const found = await readAs(caller, exchange, modules, async (book) =>
    hold === undefined ? undefined : modules.ledger.usage.look(book, hold),
  )
  if (found === undefined) {
    throw gatewayRefusal('request_unknown', 'This account has no such request.')
  }
  const body = found === 'running' ? { type: 'request', id, state: 'running' } : explained(found)
  writeJson(exchange, body)
}

function endingsOf({ ending }: Filters): readonly Ending[] | null {
  const choices = ['charged', 'free', ...paidEndings, ...freeEndings] as const
  const chosen = oneOf('ending', ending, choices)
  if (chosen === undefined) return null
  if (chosen === 'charged') return paidEndings
  return chosen === 'free' ? freeEndings : [chosen]
}

/** Checks the range at once; returns how its days become times, which needs the database. */
function rangeOf(given: Filters, { ledger }: Modules) {
  const zone = zoneIn(given.zone)
  const from = dayOrTime('from', given.from)
  const to = dayOrTime('to', given.to)
  const day = (one: Date | string | undefined) => (typeof one === 'string' ? one : null)
  const time = (one: Date | string | undefined) => (one instanceof Date ? one : null)
  const days = { from: day(from), to: day(to) }
  return async () => {
    const isTimes = days.from === null && days.to === null
    const whole = isTimes
      ? { from: null, to: null }
      : await knownZone(() => ledger.usage.period({ zone, ...days }))
    return { from: time(from) ?? whole.from, to: time(to) ?? whole.to }
  }
}

/** One request without what explains its price. Absent values are null. */
function requestObject(entry: Entry) {
  const { holdId, model, ending, details } = entry
  assert(holdId !== null && model !== null, `entry ${entry.seq} is not a request`)
  return {
    type: 'request',
    id: requestIdOf(holdId),
    state: 'ended',
    ended_at: entry.at.toISOString(),
    model,
    ending,
    // An entry's amount is what it adds to the book, so the amount of a charge is negative.
    credits: creditsText(micro(-entry.amount)),
    tokens: tokensOf(entry),
    is_estimated: entry.isEstimated ?? false,
    is_stream: details.isStream ?? null,
    status: details.status ?? null,
    stop_reason: details.stopReason ?? null,
    error_type: details.errorType ?? null,
    timings: {
      waited_ms: details.waitedMs ?? null,
      first_byte_ms: details.firstByteMs ?? null,
      total_ms: details.totalMs ?? null,
    },
    session_id: details.sessionId ?? null,
    agent_id: details.agentId ?? null,
    parent_agent_id: details.parentAgentId ?? null,
    label: details.label ?? null,
    message_id: entry.messageId,
  }
}

/** The same with the arithmetic of its price and the balance after it. */
function explained(entry: Entry) {
  return {
    ...requestObject(entry),
    charge: entry.kind === 'charge' ? chargeObject(entry) : null,
    balance_after: creditsText(entry.balance),
  }
}

function chargeObject(entry: Entry) {
  const { list, answeredBy, lines, passes, uses } = chargeLines(entry)
  return {
    catalogue_version: entry.catalogueVersion,
    price_list: list,
    answered_by: answeredBy,
    lines: lines.map(lineObject),
    passes: passes.map((pass) => ({
      ...{ model: pass.model, price_list: pass.list, lines: pass.lines.map(lineObject) },
    })),
    uses: uses.map(({ feature, count, each, cost }) => ({
      ...{ feature, count, credits_per_use: creditsText(each), credits: creditsText(cost) },
    })),
    priced: creditsText(entry.priced ?? micro(0n)),
    written_off: creditsText(entry.writtenOff ?? micro(0n)),
  }
}

/** The names that `pricing` of GET /v1/models has. */
const kindNames = {
  input: 'input',
  output: 'output',
  cacheRead: 'cache_read',
  cacheWrite5m: 'cache_write_5m',
  cacheWrite1h: 'cache_write_1h',
} as const satisfies Record<keyof TokenCounts, string>

function lineObject({ kind, count, each, cost }: ChargeLine) {
  return {
    kind: kindNames[kind],
    tokens: Number(count),
    credits_per_token: millionthsText(each),
    credits: creditsText(cost),
  }
}

/** A request has less than 2^53 tokens, so these are exact. */
export function tokensOf(counts: { readonly [kind in keyof TokenCounts]: bigint | null }) {
  return {
    input: Number(counts.input ?? 0n),
    output: Number(counts.output ?? 0n),
    cache_read: Number(counts.cacheRead ?? 0n),
    cache_write_5m: Number(counts.cacheWrite5m ?? 0n),
    cache_write_1h: Number(counts.cacheWrite1h ?? 0n),
  }
}
