// Takes old days of entries out of the ledger, oldest first: writes their checkpoints, detaches
// their table, exports it if a directory is configured, and drops what was exported. The table
// `days` has the state of each; every step is committed before the next begins, so after a crash
// the next run goes on where the last one ended. Nothing here makes a request wait.
import type pg from 'pg'
import { Fault } from '../../../platform/assert.ts'
import { type Clock, dateAt } from '../../../platform/clock.ts'
import { isLockTimeout } from '../../../platform/db/database-errors.ts'
import type { Db, Executor } from '../../../platform/db/db.ts'
import { dayRefusal } from '../../refusals.ts'
import {
  type Day,
  dayCheckpoint,
  dayDetach,
  dayDetachFinish,
  dayDrop,
  dayFind,
  dayList,
  dayListDue,
  dayOverdue,
  dayRecordDetached,
  dayRecordExported,
  pageFind,
  restoredCreate,
  restoredInsert,
  restoredTableOf,
  rowCount,
  sessionLock,
  sessionSet,
  tableNumber,
} from './day-queries.ts'
import {
  digestOfParts,
  ensurePart,
  folderOf,
  type Part,
  partName,
  readManifest,
  readPart,
  writeManifest,
} from './files.ts'

/** A part is 5 MB before it is compressed: little memory, and little to repeat after a crash. */
const ROWS_OF_PART = 10_000
/** A run begins no new step after this time, and the next run, an hour later, continues. */
const RUN_MS = 45_000
/** The setting of a directory that is not wanted. */
const NONE = 'none'

export type DaysOptions = {
  readonly db: Db
  /** As the owner of the partitioned tables. `connect` opens one connection. */
  readonly keeper: { readonly db: Db; readonly connect: () => pg.Client }
  readonly clock: Clock
  /** Where days are exported; several cells may share it. */
  readonly exportDirectory: string
  readonly cell: number
  /** Adds new entries to the usage sums. */
  readonly aggregateUsage: () => Promise<unknown>
}

export type Retired = {
  readonly checkpointed: readonly string[]
  readonly detached: readonly string[]
  readonly exported: readonly string[]
  readonly dropped: readonly string[]
  /** The day that a transaction of somebody else keeps from being detached. */
  readonly waiting: readonly string[]
}

export function createDays(options: DaysOptions) {
  const { db, keeper, clock, exportDirectory } = options

  /** Runs the work with a connection of its own, unless another process does such work. */
  async function alone<T>(work: (client: Executor) => Promise<T>): Promise<T | undefined> {
    const client = keeper.connect()
    // A lost connection also rejects the statement that runs.
    client.on('error', () => undefined)
    await client.connect()
    try {
      await sessionSet(client)
      return (await sessionLock(client)) ? await work(client) : undefined
    } finally {
      await client.end().catch(() => undefined)
    }
  }

  /** Writes checkpoints of the days that are due, and detaches them. */
  async function detachDue(client: Executor, keptDays: number, isOver: () => boolean) {
    const checkpointed: string[] = []
    const waiting: string[] = []
    const detached = await dayRecordDetached(client)
    for (const due of await dayListDue(client, { keptDays, now: dateAt(clock.nowMs()) })) {
      if (isOver()) break
      if (!due.isCheckpointed) {
        if (checkpointed.length === 0) await options.aggregateUsage()
        await dayCheckpoint(client, due.day)
        checkpointed.push(due.day)
      }
      try {
        await (due.isPending ? dayDetachFinish : dayDetach)(client, due.day)
      } catch (error) {
        if (!isLockTimeout(error)) throw error
        // A long transaction uses the entries. The day is pending, and only one can be.
        waiting.push(due.day)
        break
      }
      detached.push(...(await dayRecordDetached(client)))
    }
    return { checkpointed, detached, waiting }
  }

  /** Exports one detached day; false when the time was over before all its parts were written. */
  async function exportOne(client: Executor, day: Day, isOver: () => boolean): Promise<boolean> {
    const { cell } = options
    const table = await tableNumber(client, day.day)
    const folder = folderOf(exportDirectory, { day: day.day, cell, table })
    const parts: Part[] = []
    let rows = 0n
    let after = { afterBook: -1n, afterSeq: -1n }
    for (;;) {
      if (isOver()) return false
      const page = await pageFind(client, { day: day.day, ...after, limit: ROWS_OF_PART })
      if (page === undefined) break
      const part = { file: partName(parts.length + 1), rows: page.rows, digest: page.digest }
      await ensurePart(folder, part, page.text)
      parts.push(part)
      rows += BigInt(page.rows)
      after = { afterBook: page.lastBook, afterSeq: page.lastSeq }
    }
    const counts = [rows, await rowCount(client, day.day), day.rows ?? rows]
    if (new Set(counts).size > 1) {
      throw new Fault(`${day.day}: exported, counted and recorded rows differ: ${counts}`)
    }
    const digest = digestOfParts(parts)
    await writeManifest(folder, { day: day.day, cell, rows: String(rows), digest, parts })
    await dayRecordExported(client, { day: day.day, rows, folder, digest })
    return true
  }

  async function exportDue(client: Executor, isOver: () => boolean) {
    const exported: string[] = []
    const dropped: string[] = []
    if (exportDirectory === NONE) return { exported, dropped }
    for (const day of await dayList(client)) {
      if (day.state !== 'detached' && day.state !== 'exported') continue
      // Also a day that is exported: every file is compared with the table right before the drop,
      // because an operator may have written them to another machine, or somebody removed them.
      if (!(await exportOne(client, day, isOver))) break
      exported.push(day.day)
      await dayDrop(client, day.day)
      dropped.push(day.day)
    }
    return { exported, dropped }
  }

  return {
    /** Takes away the days before the kept ones, as far as the time of a run allows. */
    async retire(keptDays: number): Promise<Retired> {
      const startedMs = clock.spanMs()
      const isOver = () => clock.spanMs() - startedMs > RUN_MS
      const done = await alone(async (client) => ({
        ...(await detachDue(client, keptDays, isOver)),
        ...(await exportDue(client, isOver)),
      }))
      return done ?? { checkpointed: [], detached: [], exported: [], dropped: [], waiting: [] }
    },

    /** For how many days the oldest day that `retire` should have taken away has been due. */
    overdue: (keptDays: number) =>
      dayOverdue(db, {
        keptDays,
        now: dateAt(clock.nowMs()),
        isExported: exportDirectory !== NONE,
      }),

    list: () => dayList(db),
    find: (day: string) => dayFind(db, day),
    /** Undefined when no directory is configured. */
    directory: () => (exportDirectory === NONE ? undefined : exportDirectory),

    /** Exports a detached day now. False when another process takes days away at this moment. */
    async export(day: Day): Promise<boolean> {
      return (await alone((client) => exportOne(client, day, () => false))) ?? false
    },

    /** Reads the files of an exported day; rejects when one is missing or was changed. */
    async verify(day: Day): Promise<void> {
      const { folder, parts } = await exportedParts(day)
      for (const part of parts) await readPart(folder, part)
    },

    /** Loads an exported day into a table of its own, beside the ledger; all of it or nothing. */
    restore(day: string): Promise<{ table: string; rows: bigint }> {
      return keeper.db.transaction(async (tx) => {
        const found = await dayFind(tx, day)
        const { folder, parts } = await exportedParts(found)
        const table = restoredTableOf(day)
        if (!(await restoredCreate(tx, day))) {
          const sentence = `the table ${table} already exists; drop it to load ${day} again`
          throw dayRefusal('day_restored', sentence)
        }
        let rows = 0n
        for (const part of parts) {
          const lines = await readPart(folder, part)
          rows += BigInt(await restoredInsert(tx, { day, lines }))
        }
        if (rows !== found?.rows) {
          throw new Fault(`${day}: ${rows} rows were loaded, and ${found?.rows} were exported`)
        }
        return { table, rows }
      })
    },
  }
}

/** The files of an exported day, as the ledger recorded them. */
async function exportedParts(day: Day | undefined): Promise<{ folder: string; parts: Part[] }> {
  if (typeof day?.folder !== 'string') throw new Fault('the day was not exported')
  const { folder, digest } = day
  const { parts } = await readManifest(folder)
  // The files may have been changed together with their manifest.
  if (digestOfParts(parts) !== digest) {
    throw dayRefusal('export_differs', `${folder} does not contain what was exported`)
  }
  return { folder, parts }
}
