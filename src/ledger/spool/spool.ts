// The spool: settlements that the database cannot take now, kept on disk until it can. A reply may
// end once its charge is here. One file per process, appended in groups with one fsync each,
// replayed until committed. A file whose process is gone is claimed by renaming it, which only one
// claimant can do. Replaying twice is harmless: a settle is repeatable by its id.
import type { FileHandle } from 'node:fs/promises'
import { mkdir, open, readdir, readFile, rename, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '../../platform/log.ts'
import { ignoreMissing, isOwnerAlive, line, ownPrefix, readLines, syncDirectory } from './files.ts'

/** A probe writes a block: on a full disk the last block of a file may still have room. */
const PROBE = '\n'.repeat(4_096)

/** A record kept on disk; `done` forgets it. */
export type Ticket = { readonly text: string; readonly file: string }

export type Spool = {
  /** Resolves when the text is on disk. Rejects when the disk refuses; then stop admitting. */
  append(text: string): Promise<Ticket>
  /** The record has committed. A file with nothing left in it is emptied or removed. */
  done(ticket: Ticket): Promise<void>
  /** Claims the files of processes that are gone and returns what they hold. */
  adopt(): Promise<Ticket[]>
  /** False from a failed write until a write succeeds again. */
  isWritable(): boolean
  /** Tries the disk again after a failure. */
  probe(): Promise<boolean>
  size(): number
  close(): Promise<void>
}

export async function createSpool(options: {
  readonly directory: string
  readonly owner: string
  readonly log: Log
}): Promise<Spool> {
  const { directory, log } = options
  const me = await ownPrefix(options.owner)
  const ownFile = join(directory, `${me}.spool`)
  const outstanding = new Map<string, Set<Ticket>>()
  const state: {
    handle: FileHandle | undefined
    isWritable: boolean
    adopted: number
    group: { text: string; settled: PromiseWithResolvers<Ticket> }[]
    writing: Promise<void>
  } = { handle: undefined, isWritable: true, adopted: 0, group: [], writing: Promise.resolve() }

  async function ownHandle(): Promise<FileHandle> {
    if (state.handle === undefined) {
      await mkdir(directory, { recursive: true })
      state.handle = await open(ownFile, 'a')
      await syncDirectory(directory)
    }
    return state.handle
  }

  // Everything that arrived during the last fsync shares the next one.
  async function writeGroup(): Promise<void> {
    const group = state.group
    if (group.length === 0) return
    state.group = []
    try {
      await write(group.map((one) => line(one.text)).join(''))
      for (const one of group) {
        const ticket = { text: one.text, file: ownFile }
        ticketsOf(ownFile).add(ticket)
        one.settled.resolve(ticket)
      }
    } catch (error) {
      for (const one of group) one.settled.reject(error)
    }
  }

  // Someone who took this process for dead may have claimed its file. What was written into the
  // claimed file may never be read, so all that is outstanding is written again, to a new one.
  async function write(lines: string): Promise<void> {
    let text = lines
    try {
      for (;;) {
        const handle = await ownHandle()
        // The newline ends a line that a full disk tore; what follows would be lost with it.
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
      await state.handle?.close().catch(() => undefined) // the write's own error is what counts
      state.handle = undefined
      throw error
    }
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
    const settled = Promise.withResolvers<Ticket>()
    state.group.push({ text, settled })
    void inTurn(writeGroup)
    return settled.promise
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

  async function adopt(): Promise<Ticket[]> {
    const found: Ticket[] = []
    const names = await readdir(directory).catch(() => [])
    for (const name of names.filter((one) => one.endsWith('.spool'))) {
      if (await isOwnerAlive(name)) continue
      state.adopted += 1
      const mine = join(directory, `${me}.${state.adopted}.spool`)
      try {
        await rename(join(directory, name), mine)
      } catch {
        continue // another process was faster
      }
      for (const text of readLines(await readFile(mine), mine, log)) {
        const ticket = { text, file: mine }
        ticketsOf(mine).add(ticket)
        found.push(ticket)
      }
      if (ticketsOf(mine).size === 0) await unlink(mine)
    }
    return found
  }

  return {
    append,
    done,
    adopt,
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
    },
  }
}
