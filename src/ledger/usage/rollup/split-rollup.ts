// Adds entries to the sums by split, to sessions and to their spans: in Node, one pass over the
// entries for the quarters of an hour, from which the longer sums are made. The caller has locked
// the marks, and everything is written in its transaction.
import type { Tx } from '../../../platform/db/db.ts'
import type { BookId } from '../../../platform/ids.ts'
import { AMOUNT_COLUMNS } from '../figures.ts'
import { sessionsSince } from '../queries.ts'
import type { RollupRange } from './rollup-queries.ts'
import {
  entryListFresh,
  type FreshEntry,
  sessionAdd,
  splitMarkMove,
  splitSpanAdd,
  splitSumAdd,
  textArrayText,
  timeText,
} from './split-queries.ts'

const QUARTER_MS = 900_000
const QUARTER_MINUTES = 15
const LONGER_MINUTES = [60, 180, 1_440]
/** Spans are of at most 1,024 entries. */
const BLOCK_BITS = 10n
const STEP_FACTOR = 64
/** The largest count of one element of a histogram: 31 bits less the 6 of the step. */
const COUNT_MAX = 2 ** 25 - 1

/** An entry that is a request. */
type Request = FreshEntry & { readonly quarter: number; readonly amounts: readonly bigint[] }

type Sum = {
  readonly book: BookId
  readonly split: string
  readonly key: string
  /** Minutes since 1970. */
  readonly atMinutes: number
  readonly minutes: number
  readonly amounts: BigInt64Array
  readonly firstByte: Map<number, number>
  readonly total: Map<number, number>
}

type Session = {
  readonly book: BookId
  readonly split: 'session' | 'label'
  readonly id: string
  readonly isWhole: boolean
  readonly agent: string
  readonly amounts: BigInt64Array
  readonly models: Set<string>
  parent: string | null
  firstMs: number
  lastMs: number
  lastSeq: bigint
  busyMs: number
}

type Span = {
  readonly book: BookId
  readonly split: string
  readonly key: string
  readonly model: string
  readonly ending: string
  readonly day: string
  readonly firstSeq: bigint
  lastSeq: bigint
  requests: number
}

/** Returns the books that moved; one with a missing entry number is left unchanged. */
export async function addSplits(
  tx: Tx,
  ranges: readonly RollupRange[],
  keptDays: number,
): Promise<BookId[]> {
  if (ranges.length === 0) return []
  const entries = Map.groupBy(await entryListFresh(tx, ranges), ({ book }) => book)
  const since = await sessionsSince(tx, keptDays)
  const sums = new Map<string, Sum>()
  const sessions = new Map<string, Session>()
  const spans = new Map<string, Span>()
  const moved: { book: BookId; until: bigint; day: string }[] = []
  for (const { book, seq, until } of ranges) {
    const own = entries.get(book) ?? []
    if (BigInt(own.length) !== until - seq) continue
    let day = '-infinity'
    for (const one of own) {
      if (one.day > day) day = one.day
      if (one.quarter === null) continue
      const entry = { ...one, quarter: one.quarter, amounts: amountsOf(one) }
      const isKept = entry.ms >= since.getTime()
      addSums(sums, entry, isKept)
      addSpans(spans, entry)
      if (isKept) addSessions(sessions, entry)
    }
    moved.push({ book, until, day })
  }
  await writeSums(tx, withLonger(sums))
  await writeSessions(tx, [...sessions.values()])
  await writeSpans(tx, [...spans.values()])
  await splitMarkMove(tx, moved)
  return moved.map(({ book }) => book)
}

function addSums(sums: Map<string, Sum>, entry: Request, isKept: boolean): void {
  add('model', entry.model)
  add('ending', entry.ending)
  if (isKept || entry.session === null) add('session', entry.session ?? '')
  if (isKept || entry.label === null) add('label', entry.label ?? '')

  function add(split: string, key: string): void {
    const name = `${entry.book} ${entry.quarter} ${split} ${key}`
    let sum = sums.get(name)
    if (sum === undefined) {
      const atMinutes = entry.quarter * QUARTER_MINUTES
      sum = newSum({ book: entry.book, split, key, atMinutes, minutes: QUARTER_MINUTES })
      sums.set(name, sum)
    }
    addAmounts(sum.amounts, entry.amounts)
    count(sum.firstByte, entry.firstByte, 1)
    count(sum.total, entry.total, 1)
  }
}

function newSum(of: Omit<Sum, 'amounts' | 'firstByte' | 'total'>): Sum {
  const amounts = new BigInt64Array(AMOUNT_COLUMNS.length)
  return { ...of, amounts, firstByte: new Map(), total: new Map() }
}

/** In the order of AMOUNT_COLUMNS. */
function amountsOf(entry: FreshEntry): readonly bigint[] {
  return [
    ...[1n, entry.isFree ? 1n : 0n, entry.isError ? 1n : 0n, 1n, entry.input, entry.output],
    ...[entry.cacheRead, entry.cacheWrite5m, entry.cacheWrite1h, entry.spent, entry.cacheSaved],
  ]
}

function addAmounts(sums: BigInt64Array, amounts: readonly bigint[]): void {
  for (let i = 0; i < amounts.length; i++) sums[i] = (sums[i] ?? 0n) + (amounts[i] ?? 0n)
}

function count(counts: Map<number, number>, step: number | null, requests: number): void {
  if (step !== null) counts.set(step, (counts.get(step) ?? 0) + requests)
}

/** The sums of quarters, and the longer ones that they make. */
function withLonger(quarters: ReadonlyMap<string, Sum>): Sum[] {
  const all = [...quarters.values()]
  let finer: readonly Sum[] = all
  const made: Sum[] = [...all]
  for (const minutes of LONGER_MINUTES) {
    const longer = new Map<string, Sum>()
    for (const one of finer) {
      const atMinutes = Math.floor(one.atMinutes / minutes) * minutes
      const name = `${one.book} ${atMinutes} ${one.split} ${one.key}`
      const sum = longer.get(name) ?? newSum({ ...one, atMinutes, minutes })
      longer.set(name, sum)
      for (const [i, value] of one.amounts.entries()) {
        sum.amounts[i] = (sum.amounts[i] ?? 0n) + value
      }
      for (const [step, requests] of one.firstByte) count(sum.firstByte, step, requests)
      for (const [step, requests] of one.total) count(sum.total, step, requests)
    }
    finer = [...longer.values()]
    made.push(...finer)
  }
  return made
}

function addSessions(sessions: Map<string, Session>, entry: Request): void {
  if (entry.session !== null) {
    add('session', entry.session, null)
    add('session', entry.session, entry.agent ?? '')
  }
  if (entry.label !== null) add('label', entry.label, null)

  function add(split: 'session' | 'label', id: string, agent: string | null): void {
    const name = `${entry.book} ${split} ${agent === null ? '' : `${agent.length} ${agent}`} ${id}`
    let session = sessions.get(name)
    if (session === undefined) {
      session = {
        ...{ book: entry.book, split, id, isWhole: agent === null, agent: agent ?? '' },
        ...{ amounts: new BigInt64Array(AMOUNT_COLUMNS.length), models: new Set(), parent: null },
        ...{ firstMs: entry.ms, lastMs: entry.ms, lastSeq: entry.seq, busyMs: 0 },
      }
      sessions.set(name, session)
    }
    addAmounts(session.amounts, entry.amounts)
    session.models.add(entry.model)
    if (agent !== null) session.parent ??= entry.parent
    session.firstMs = Math.min(session.firstMs, entry.ms)
    session.lastMs = Math.max(session.lastMs, entry.ms)
    session.lastSeq = entry.seq
    session.busyMs += entry.busyMs
  }
}

function addSpans(spans: Map<string, Span>, entry: FreshEntry): void {
  const { book, seq, day, model, ending } = entry
  add('session', entry.session)
  add('label', entry.label)
  add('agent', entry.agent)

  function add(split: string, key: string | null): void {
    if (key === null) return
    const of = `${book} ${seq >> BLOCK_BITS} ${day} ${ending} ${model.length} ${model}`
    const name = `${of} ${split} ${key}`
    const span = spans.get(name)
    if (span === undefined) {
      const range = { firstSeq: seq, lastSeq: seq, requests: 1 }
      spans.set(name, { book, split, key, model, ending, day, ...range })
    } else {
      span.lastSeq = seq
      span.requests += 1
    }
  }
}

async function writeSums(tx: Tx, sums: readonly Sum[]): Promise<void> {
  await splitSumAdd(tx, {
    book_id: sums.map(({ book }) => book),
    at: sums.map(({ atMinutes }) => timeText((atMinutes / QUARTER_MINUTES) * QUARTER_MS)),
    minutes: sums.map(({ minutes }) => minutes),
    split: sums.map(({ split }) => split),
    key: sums.map(({ key }) => key),
    ...amountColumns(sums),
    first_byte: sums.map(({ firstByte }) => histogramText(firstByte)),
    total: sums.map(({ total }) => histogramText(total)),
  })
}

async function writeSessions(tx: Tx, sessions: readonly Session[]): Promise<void> {
  await sessionAdd(tx, {
    book_id: sessions.map(({ book }) => book),
    split: sessions.map(({ split }) => split),
    id: sessions.map(({ id }) => id),
    is_whole: sessions.map(({ isWhole }) => isWhole),
    agent: sessions.map(({ agent }) => agent),
    parent_agent: sessions.map(({ parent }) => parent),
    models: sessions.map(({ models }) => textArrayText(models)),
    first_at: sessions.map(({ firstMs }) => timeText(firstMs)),
    last_at: sessions.map(({ lastMs }) => timeText(lastMs)),
    last_seq: sessions.map(({ lastSeq }) => lastSeq),
    ...amountColumns(sessions),
    busy_ms: sessions.map(({ busyMs }) => busyMs),
  })
}

async function writeSpans(tx: Tx, spans: readonly Span[]): Promise<void> {
  await splitSpanAdd(tx, {
    book_id: spans.map(({ book }) => book),
    split: spans.map(({ split }) => split),
    key: spans.map(({ key }) => key),
    model: spans.map(({ model }) => model),
    ending: spans.map(({ ending }) => ending),
    block: spans.map(({ firstSeq }) => firstSeq >> BLOCK_BITS),
    day: spans.map(({ day }) => day),
    first_seq: spans.map(({ firstSeq }) => firstSeq),
    last_seq: spans.map(({ lastSeq }) => lastSeq),
    requests: spans.map(({ requests }) => requests),
  })
}

function amountColumns(sums: readonly { readonly amounts: BigInt64Array }[]) {
  return Object.fromEntries(
    AMOUNT_COLUMNS.map((name, i) => [name, sums.map(({ amounts }) => amounts[i] ?? 0n)]),
  )
}

/** As usage_histogram_add in sql/usage.sql stores it. */
function histogramText(counts: ReadonlyMap<number, number>): string {
  const elements: number[] = []
  for (const [step, requests] of counts) {
    for (let left = requests; left > 0; left -= COUNT_MAX) {
      elements.push(Math.min(left, COUNT_MAX) * STEP_FACTOR + step)
    }
  }
  return `{${elements.join(',')}}`
}
