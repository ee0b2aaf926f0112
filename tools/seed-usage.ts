// Plans a month of requests of a small team: coding agents in working hours, a nightly script, a
// few on weekends; some replies fail and some streams are closed early. The random seed is fixed,
// so every demo shows the same month. Nothing here uses a database.
import type { Ending, RequestDetails } from '../src/ledger/ledger.ts'
import { noTokens, type TokenCounts, tokens } from '../src/units/tokens.ts'

export type Used = {
  readonly model: string
  readonly startMs: number
  readonly endMs: number
  readonly counts: TokenCounts
  readonly ending: Ending
  readonly firstByteMs: number
  readonly totalMs: number
  /** The ids that the client sent with it. */
  readonly sent: Pick<RequestDetails, 'sessionId' | 'agentId' | 'parentAgentId' | 'label'>
}

export const MONTH_DAYS = 30
const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
/** The team works in Moscow, where the UTC offset has not changed since 2014. */
const ZONE_MS = 3 * HOUR_MS
/** When sessions of a working day begin, in hours; one more begins on busy days. */
const SESSION_HOURS = [9.6, 11.2, 12.4, 15, 16.6, 18.1]
const BREAK_MS = 45_000
/** Every third session starts two agents, which take turns until the last fifth of it. */
const SUBAGENT_SESSIONS = 3

type Draw = () => number

/** An hour of the team's day, `daysAgo` days before today. */
export function hourOf(nowMs: number, daysAgo: number, hour: number): number {
  const today = Math.floor((nowMs + ZONE_MS) / DAY_MS)
  return (today - daysAgo) * DAY_MS - ZONE_MS + Math.round(hour * HOUR_MS)
}

/** All requests between a month ago and now, in the order of their ends. */
export function usageOf(nowMs: number): readonly Used[] {
  const draw = drawFrom(20_261_115)
  const today = Math.floor((nowMs + ZONE_MS) / DAY_MS)
  const days = Array.from({ length: MONTH_DAYS }, (_, i) => today - MONTH_DAYS + 1 + i)
  const month = days.flatMap((day) => dayOf(day, draw))
  // The demo must show some requests of today, even on a Sunday morning.
  const latest = session(nowMs - 40 * 60_000, 12, draw)
  return [...month, ...latest]
    .filter(({ endMs }) => endMs < nowMs)
    .toSorted((one, other) => one.endMs - other.endMs)
}

function dayOf(day: number, draw: Draw): Used[] {
  const midnightMs = day * DAY_MS - ZONE_MS
  const at = (hours: number) => midnightMs + Math.round((hours + draw() * 0.7) * HOUR_MS)
  const night = script(at(4), draw)
  // The first of January 1970 was a Thursday.
  const weekday = (day + 4) % 7
  if (weekday === 0) return night
  if (weekday === 6) return draw() < 0.6 ? [...night, ...session(at(13), 9, draw)] : night
  const busy = SESSION_HOURS.filter(() => draw() < 0.85)
  return [...night, ...busy.flatMap((hour) => session(at(hour), 14 + pick(draw, 26), draw))]
}

/** An agent's conversation: each turn reads what earlier turns wrote into the cache. */
function session(startMs: number, turns: number, draw: Draw): Used[] {
  const model = ['model-medium', 'model-medium', 'model-large', 'model-small'][pick(draw, 4)] ?? ''
  const sentAt = idsOf(startMs, turns)
  const used: Used[] = []
  let cached = 11_000 + pick(draw, 9_000)
  let clockMs = startMs
  for (let turn = 0; turn < turns; turn++) {
    const written = 600 + pick(draw, 5_400)
    const counts = {
      ...noTokens,
      input: tokens(20 + pick(draw, 700)),
      output: tokens(90 + pick(draw, draw() < 0.15 ? 4_200 : 900)),
      cacheRead: tokens(turn === 0 ? 0 : cached),
      cacheWrite5m: tokens(turn === 0 ? cached + written : written),
    }
    const one = asked({ model, startMs: clockMs, counts, sent: sentAt(turn) }, draw)
    used.push(one)
    clockMs = one.endMs + 2_000 + pick(draw, BREAK_MS)
    if (one.ending === 'complete') cached += written
  }
  return used
}

/** The ids of each turn of a session, as coding agents send them. */
function idsOf(startMs: number, turns: number): (turn: number) => Used['sent'] {
  // Drawn from the time of the session, so that they change nothing else of the month.
  const draw = drawFrom(startMs)
  const hex = (digits: number) =>
    Array.from({ length: digits }, () => pick(draw, 16).toString(16)).join('')
  const sessionId = `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`
  const agents = [`a${hex(16)}`, `a${hex(16)}`]
  const hasAgents = pick(draw, SUBAGENT_SESSIONS) === 0
  return (turn) => {
    const isMain = !hasAgents || turn < turns / 4 || turn > (turns * 4) / 5
    const agentId = isMain ? undefined : agents[turn % agents.length]
    return agentId === undefined ? { sessionId } : { sessionId, agentId }
  }
}

/** A nightly script: short, without a cache, one request after the other. */
function script(startMs: number, draw: Draw): Used[] {
  return Array.from({ length: 4 + pick(draw, 4) }, (_, i) => {
    const input = tokens(3_000 + pick(draw, 9_000))
    const counts = { ...noTokens, input, output: tokens(150 + pick(draw, 350)) }
    const sent = { label: 'nightly-report' }
    return asked({ model: 'model-small', startMs: startMs + i * 40_000, counts, sent }, draw)
  })
}

function asked(ask: Pick<Used, 'model' | 'startMs' | 'counts' | 'sent'>, draw: Draw): Used {
  const ending = endingOf(draw())
  const { counts } = ask
  // A client that disconnects has received a part of the reply; 40 tokens a second is usual.
  const output = ending === 'client_left' ? tokens(counts.output / 3n) : counts.output
  const totalMs = 900 + Math.round(Number(output) * 25)
  // A prompt of 50,000 tokens is read in about a third of a second when it is cached.
  const firstByteMs = 420 + Math.round(Number(counts.input + counts.cacheRead) / 150)
  return {
    ...{ ...ask, counts: { ...counts, output }, ending },
    ...{ endMs: ask.startMs + totalMs, totalMs, firstByteMs: Math.min(firstByteMs, totalMs) },
  }
}

function endingOf(chance: number): Ending {
  if (chance < 0.012) return 'upstream_failed'
  if (chance < 0.017) return 'refused'
  if (chance < 0.02) return 'given_up'
  return chance < 0.036 ? 'client_left' : 'complete'
}

function pick(draw: Draw, below: number): number {
  return Math.floor(draw() * below)
}

/** Mulberry32: small, and the same on every platform. */
function drawFrom(seed: number): Draw {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
