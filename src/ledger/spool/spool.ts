// The spool: settles that wait on disk while the database is unavailable or refuses them. A reply
// may end once its charge is here. One file per process; settles are appended in groups with one
// fsync each, and sent until they commit or are in quarantine. A process holds a lock while it
// lives. Another process claims the files of a dead one under its lock, by renaming them. Sending a
// settle twice is harmless: it is repeatable by its id.
import type { FileHandle } from 'node:fs/promises'
import { mkdir, open, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '../../platform/log.ts'
import { type CanSend, createClaims } from './claim.ts'
import { ignoreMissing, line, syncDirectory } from './files.ts'
import { type FileLock, tryLock } from './lock.ts'

/** The probe writes a whole block: on a full disk a file's last block may still have room. */
const PROBE = '\n'.repeat(4_096)

/** A record on disk; `done` removes it. */
export type Ticket = { readonly text: string; readonly file: string }

export type Orphans = {
  readonly tickets: Ticket[]
  /** How many files were claimed. */
  readonly files: number
  /** Processes of which no file is left. */
  readonly processes: string[]
}

export type Spool = {
  /** Resolves when the text is on disk. If it rejects, the caller must admit no new requests. */
  append(text: string): Promise<Ticket>
  /** The record has committed. A file without further records is emptied or removed. */
  done(ticket: Ticket): Promise<void>
  /** Claims the files of dead processes. What it cannot send stays, in files of its own. */
  claimOrphans(canSend?: CanSend): Promise<Orphans>
  /** Files that the last `claimOrphans` left because of such records, or could not read. */
  left(): number
  /** False from a failed write until a write succeeds again. */
  isWritable(): boolean
  /** Tries to write again after a failure. */
  probe(): Promise<boolean>
  size(): number
  close(): Promise<void>
}

export async function createSpool(options: {
  readonly directory: string
  /** Random for each start of a process, and of letters and digits only. */
  readonly owner: string
  readonly log: Log
}): Promise<Spool> {
  const { directory, log, owner } = options
  const ownFile = join(directory, `${owner}.spool`)
  const outstanding = new Map<string, Set<Ticket>>()
  const state: {
    handle: FileHandle | undefined
    lock: FileLock | undefined
    isWritable: boolean
    group: { text: string; deferred: PromiseWithResolvers<Ticket> }[]
    writing: Promise<void>
  } = {
    ...{ handle: undefined, lock: undefined, isWritable: true },
    ...{ group: [], writing: Promise.resolve() },
  }

  const claims = createClaims({ directory, owner, log, takeOwnLock })

  async function ownHandle(): Promise<FileHandle> {
    if (state.handle === undefined) {
      await mkdir(directory, { recursive: true })
      takeOwnLock()
      state.handle = await open(ownFile, 'a')
      await syncDirectory(directory)
    }
    return state.handle
  }

  function takeOwnLock(): void {
    state.lock ??= tryLock(join(directory, `${owner}.lock`))
    if (state.lock === undefined) throw new Error(`another process spools as ${owner}`)
  }

  // Everything that arrived during the last fsync shares the next one.
  async function writeGroup(): Promise<void> {
    const group = state.group
    if (group.length === 0) return
    state.group = []
    try {
      await write(group.map((one) => line(one.text)).join(''))
      for (const one of group) {
        one.deferred.resolve(add(one.text, ownFile))
      }
    } catch (error) {
      for (const one of group) one.deferred.reject(error)
    }
  }

  // Another process may have considered this one dead and claimed its file. Lines written to the
  // claimed file may never be read, so all outstanding records are written again, to a new file.
  async function write(lines: string): Promise<void> {
    let text = lines
    let whole: number | undefined
    try {
      for (;;) {
        whole = undefined
        const handle = await ownHandle()
        whole = (await handle.stat()).size
        // The newline ends a line that a full disk cut off; else the next record would extend it.
        await handle.appendFile(`\n${text}`)
        await handle.sync()
        const there = await stat(ownFile).catch(() => undefined)
        if (there !== undefined && there.ino === (await handle.stat()).ino) break
        log.warn({ file: ownFile }, 'the spool file was claimed by another process; writing anew')
        await handle.close()
        state.handle = undefined
        text = [...ticketsOf(ownFile)].map((ticket) => line(ticket.text)).join('') + lines
      }
      state.isWritable = true
    } catch (error) {
      state.isWritable = false
      // Nothing of it was acknowledged. Half a line in the middle of the file would look damaged.
      if (whole !== undefined) await state.handle?.truncate(whole).catch(() => undefined)
      await state.handle?.close().catch(() => undefined) // throw the write's error instead
      state.handle = undefined
      throw error
    }
  }

  function add(text: string, file: string): Ticket {
    const ticket = { text, file }
    ticketsOf(file).add(ticket)
    return ticket
  }

  function ticketsOf(file: string): Set<Ticket> {
    const known = outstanding.get(file)
    if (known !== undefined) return known
    const fresh = new Set<Ticket>()
    outstanding.set(file, fresh)
    return fresh
  }

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = state.writing.then(work)
    state.writing = result.then(
      () => undefined,
      () => undefined,
    )
    return result
  }

  function append(text: string): Promise<Ticket> {
    const deferred = Promise.withResolvers<Ticket>()
    state.group.push({ text, deferred })
    void inTurn(writeGroup)
    return deferred.promise
  }

  async function done(ticket: Ticket): Promise<void> {
    const left = ticketsOf(ticket.file)
    left.delete(ticket)
    if (left.size > 0) return
    await inTurn(async () => {
      if (ticketsOf(ticket.file).size > 0) return
      if (ticket.file === ownFile) await state.handle?.truncate(0)
      else await unlink(ticket.file).catch(ignoreMissing)
    })
  }

  async function claimOrphans(canSend: CanSend = () => true): Promise<Orphans> {
    const { claimed, processes } = await claims.claimAll(canSend)
    const tickets = claimed.flatMap(({ texts, file }) => texts.map((text) => add(text, file)))
    return { tickets, files: claimed.length, processes }
  }

  return {
    append,
    done,
    claimOrphans,
    left: claims.left,
    isWritable: () => state.isWritable,
    async probe() {
      await inTurn(async () => {
        await write(PROBE).catch(() => undefined) // isWritable tells
        if (ticketsOf(ownFile).size === 0) await state.handle?.truncate(0)
      })
      return state.isWritable
    },
    size: () => [...outstanding.values()].reduce((sum, tickets) => sum + tickets.size, 0),
    async close() {
      await state.writing
      await state.handle?.close()
      if (ticketsOf(ownFile).size === 0) await unlink(ownFile).catch(ignoreMissing)
      state.lock?.release()
      state.lock = undefined
    },
  }
}
