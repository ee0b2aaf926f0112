// The charge log: a file per process and day, beside the spool, with a line for each charge that
// the database has stored, for each raised fence and for each charge that is written off. It is
// needed only when the database is restored to an earlier moment: then `op restore` finds here what
// is missing. Lines are written in groups behind the requests: none waits for the disk, and a full
// disk costs lines, not requests.
import type { FileHandle } from 'node:fs/promises'
import { mkdir, open, readdir, statfs, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, dateAt } from '../../platform/clock.ts'
import type { BookId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import type { Credits } from '../../units/credits.ts'
import type { SettleInput } from '../calls.ts'
import { ignoreMissing, line, syncDirectory } from '../spool/files.ts'
import type { ModelTariffs } from '../tariff-queries.ts'
import { type LogLine, lineText, type TariffLine } from './lines.ts'

/** How long a line may be only in memory: a killed process loses as much. */
const WRITE_MS = 50
/** How long it may be only in the page cache: a machine without power loses as much. */
const SYNC_MS = 1_000
/** About 10 MB. While the disk hangs, lines beyond this many are dropped and counted as lost. */
const WAITING_MAX = 20_000
/** Lines made into text at once, about 10 ms; requests are answered in between. */
const WRITE_MAX = 500
/** Below it nothing is logged: the spool has the same disk, and needs it to accept requests. */
const FREE_SHARE_MIN = 0.1

/** `charges-2026-11-18-<process>.log`. */
const NAME = /^charges-(?<day>\d{4}-\d{2}-\d{2})-(?<owner>\w+)\.log$/

/** The day of a file of the charge log; undefined for other files. */
export function dayOfFile(name: string): string | undefined {
  return NAME.exec(name)?.groups?.day
}

/** The process that wrote a file of the charge log; undefined for other files. */
export function ownerOfFile(name: string): string | undefined {
  return NAME.exec(name)?.groups?.owner
}

export type ChargeLog = ReturnType<typeof createChargeLog>

export function createChargeLog(options: {
  readonly directory: string
  /** Random for each start of a process. */
  readonly owner: string
  /** For how many days files are kept; 0: nothing is written. */
  readonly days: number
  readonly clock: Clock
  readonly log: Log
}) {
  const { directory, owner, days, clock, log } = options
  const tariffs = new Map<number, TariffLine>()
  const state = {
    waiting: [] as LogLine[],
    lost: 0,
    isWritable: true,
    file: undefined as { readonly handle: FileHandle; readonly day: string } | undefined,
    writeTimer: undefined as NodeJS.Timeout | undefined,
    syncTimer: undefined as NodeJS.Timeout | undefined,
    work: Promise.resolve(),
  }

  function add(one: LogLine): void {
    if (days === 0) return
    if (state.waiting.length >= WAITING_MAX) {
      state.lost += 1
      return
    }
    state.waiting.push(one)
    state.writeTimer ??= setTimeout(() => void flush(), WRITE_MS).unref()
  }

  function flush(): Promise<void> {
    clearTimeout(state.writeTimer)
    state.writeTimer = undefined
    state.work = state.work.then(write)
    return state.work
  }

  /** Never rejects. */
  async function write(): Promise<void> {
    while (state.waiting.length > 0) await writeSome(state.waiting.splice(0, WRITE_MAX))
  }

  async function writeSome(lines: readonly LogLine[]): Promise<void> {
    try {
      const handle = await fileOfToday()
      const text = lines.map((one) => line(lineText(one))).join('')
      // After a failed write the newline ends a line that a full disk cut off.
      await handle.appendFile(state.isWritable ? text : `\n${text}`)
      state.isWritable = true
      state.syncTimer ??= setTimeout(() => void sync(), SYNC_MS).unref()
    } catch (error) {
      state.lost += lines.length
      if (state.isWritable) {
        log.error({ err: error, directory }, 'the charge log cannot be written: lines are lost')
      }
      state.isWritable = false
      await closeFile()
    }
  }

  function sync(): Promise<void> {
    clearTimeout(state.syncTimer)
    state.syncTimer = undefined
    state.work = state.work.then(async () => {
      await state.file?.handle.datasync().catch((error: unknown) => {
        log.error({ err: error, directory }, 'the charge log was not flushed to the disk')
      })
    })
    return state.work
  }

  async function fileOfToday(): Promise<FileHandle> {
    const day = dayText(clock.nowMs())
    if (state.file !== undefined && state.file.day !== day) await closeFile()
    if (state.file === undefined) {
      await mkdir(directory, { recursive: true })
      await removeOld(day)
    }
    await requireSpace()
    if (state.file === undefined) {
      const handle = await open(join(directory, `charges-${day}-${owner}.log`), 'a', 0o600)
      state.file = { handle, day }
      // Each file explains the tariff numbers of its charges by itself.
      await handle.appendFile(
        ['\n', ...tariffs.values().map((one) => line(lineText(one)))].join(''),
      )
      await syncDirectory(directory)
    }
    return state.file.handle
  }

  async function requireSpace(): Promise<void> {
    const { bavail, blocks } = await statfs(directory)
    if (bavail < blocks * FREE_SHARE_MIN) {
      throw new Error('less than a tenth of the disk is free: it is left to the spool')
    }
  }

  /** Keeps today and the newest days before it: a clock that steps ahead removes one at most. */
  async function removeOld(today: string): Promise<void> {
    const files = (await readdir(directory)).map((name) => ({ name, day: dayOfFile(name) }))
    const found = new Set([today, ...files.flatMap(({ day }) => day ?? [])])
    const kept = new Set([...found].sort().slice(-days - 1))
    for (const { name, day } of files) {
      if (day === undefined || kept.has(day)) continue
      await unlink(join(directory, name)).catch(ignoreMissing)
    }
  }

  /** Does not reject: the caller has reported the failed write, or no line waits any more. */
  async function closeFile(): Promise<void> {
    const { file } = state
    state.file = undefined
    await file?.handle.datasync().catch(() => undefined)
    await file?.handle.close().catch(() => undefined)
  }

  return {
    /** The charge is durable in the database, or in quarantine. */
    charged(input: SettleInput, charged: Credits): void {
      add({ what: 'charge', atMs: clock.nowMs(), charged, input })
    },

    /** A key was confirmed or revoked: the book's keys with a lower fence are invalid. */
    fenceRaised(book: BookId, fence: bigint): void {
      add({ what: 'fence', atMs: clock.nowMs(), book, fence })
    },

    /** An operator gave a settle in quarantine up: a restore must not charge it. */
    writtenOff(settle: string): void {
      add({ what: 'write-off', atMs: clock.nowMs(), settle })
    },

    /** What tariff numbers mean: after a restore, the database may give them to other lists. */
    tariffsKnown({ lists, ...model }: ModelTariffs, ids: ReadonlyMap<string, number>): void {
      for (const { name: list, price } of lists) {
        const id = ids.get(list)
        if (id === undefined || tariffs.has(id)) continue
        const one = { what: 'tariff', id, tariff: { ...model, list, price } } as const
        tariffs.set(id, one)
        add(one)
      }
    },

    /** Resolves when what was added before is written, or lost. */
    flush,

    /** Lines that were not written, since the start of the process. */
    lost: () => state.lost,

    async close(): Promise<void> {
      await flush()
      clearTimeout(state.syncTimer)
      await closeFile()
    },
  }
}

function dayText(ms: number): string {
  return dateAt(ms).toISOString().slice(0, 10)
}
