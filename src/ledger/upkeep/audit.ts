// The audit compares entries, balances, holds and postings with each other. 'new' reads entries
// since the last audit and runs every minute; 'all' reads everything and runs at night and before
// anything irreversible. The rules are SQL (../sql/audit.sql), so that an operator can run them by
// hand.
import { setTimeout as pause } from 'node:timers/promises'
import { Fault } from '../../platform/assert.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Db } from '../../platform/db/db.ts'
import type { LongReader } from '../../platform/db/long-reads.ts'
import type { Finding, HoldPart, Part } from './audit-queries.ts'
import * as queries from './audit-queries.ts'
import { createLongReads, type LongReadOptions } from './standby.ts'

/** Findings that one audit lists: more have one cause, and nobody reads them. */
const FINDINGS_MAX = 1_000
/**
 * Entries and holds that one snapshot reads: about 0.2 s. While a snapshot lasts, PostgreSQL keeps
 * every version of the rows that requests change, and a busy book becomes slower.
 */
const PART_ROWS = 20_000
/** Books whose marks are read and written at a time. */
const MARKS_MAX = 10_000
/**
 * On the primary the audit pauses for this multiple of the time that it has read: it takes a core
 * while it reads, so on a server with two cores it takes a sixth of them.
 */
const PAUSE_SHARE = 2

export type AuditOptions = LongReadOptions & { readonly clock: Clock }

export function createAudit(options: AuditOptions) {
  const running = new Set<string>()
  const longReads = createLongReads(options)

  /** What breaks a rule; empty if nothing does. Books may change meanwhile. */
  return async function audit(scope: 'new' | 'all'): Promise<Finding[]> {
    // A server that no longer answers may keep an audit waiting; the next ones do not join it.
    if (running.has(scope)) throw new Fault(`the audit '${scope}' has not ended yet`)
    running.add(scope)
    try {
      const { read, isStandby } = await longReads()
      const rest = restBy(isStandby ? 0 : PAUSE_SHARE)
      return await read((reader) =>
        scope === 'new' ? auditNew(options.db, reader) : auditAll(reader, rest),
      )
    } finally {
      running.delete(scope)
    }
  }

  /** Call it after each part: it waits for a multiple of the time since it returned last. */
  function restBy(pauseShare: number): () => Promise<void> {
    let sinceMs = options.clock.spanMs()
    return async () => {
      const tookMs = options.clock.spanMs() - sinceMs
      if (tookMs * pauseShare >= 1) await pause(tookMs * pauseShare)
      sinceMs = options.clock.spanMs()
    }
  }
}

/**
 * The next 'new' audit of a book starts after its mark, which moves only if the book has no
 * finding: each finding is reported until an operator has resolved it. A standby may be behind: a
 * mark is what its snapshot showed.
 */
function auditNew(db: Db, reader: LongReader): Promise<Finding[]> {
  return reader.snapshot(async (tx) => {
    const findings = await queries.findingListNew(tx, FINDINGS_MAX)
    // The list was cut: which other books have findings is unknown.
    if (findings.length === FINDINGS_MAX) return findings
    const wrong = new Set(findings.map(({ book }) => book))
    let marks = await queries.markList(tx, { after: null, limit: MARKS_MAX })
    while (marks.length > 0) {
      await queries.markStore(
        db,
        marks.filter(({ book }) => !wrong.has(book)),
      )
      const after = marks.at(-1)?.book ?? null
      marks =
        marks.length < MARKS_MAX ? [] : await queries.markList(tx, { after, limit: MARKS_MAX })
    }
    return findings
  })
}

/**
 * Each rule but one is about single books or holds, so parts of them are read one after the other,
 * each in a snapshot of its own.
 */
async function auditAll(reader: LongReader, rest: () => Promise<void>): Promise<Finding[]> {
  const findings = await reader.snapshot((tx) => queries.findingListOfHolds(tx, FINDINGS_MAX))
  await rest()
  const check = async (list: (part: { limit: number }) => Promise<Finding[]>) => {
    const limit = FINDINGS_MAX - findings.length
    if (limit > 0) findings.push(...(await list({ limit })))
    await rest()
  }
  for (const part of await queries.partList(reader, PART_ROWS)) await check(ofBooks(reader, part))
  let part = await queries.holdPartFind(reader, undefined, PART_ROWS)
  while (part !== undefined) {
    await check(ofSettled(reader, part))
    part = await queries.holdPartFind(reader, part, PART_ROWS)
  }
  return findings
}

function ofBooks(reader: LongReader, part: Part) {
  return ({ limit }: { limit: number }) =>
    reader.snapshot((tx) => queries.findingListOfBooks(tx, { ...part, limit }))
}

function ofSettled(reader: LongReader, part: HoldPart) {
  return ({ limit }: { limit: number }) =>
    reader.snapshot((tx) => queries.findingListOfSettled(tx, { ...part, limit }))
}
