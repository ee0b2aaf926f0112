// Refused settles on disk: settles that the database answered with an error, or with an outcome
// other than `settled`. Each is a file of its own in the spool directory, synced before the refusal
// is accepted. Only a settle that committed, or an operator, removes it. The name tells which
// process retries it; another process claims the file of a dead one by renaming it.
import { mkdir, open, readdir, readFile, rename, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { HoldId } from '../../platform/ids.ts'
import type { Log } from '../../platform/log.ts'
import {
  checksum,
  ignoreMissing,
  isOwnerAlive,
  line,
  ownPrefix,
  readLines,
  syncDirectory,
} from './files.ts'

/** Files written at once: each takes a descriptor; one fsync of the directory serves them all. */
const FILES_AT_ONCE = 32
/** Files change their names only when their process dies: twice while somebody reads is enough. */
const LIST_ATTEMPTS = 3

export type RefusedRecord = {
  readonly hold: HoldId
  /** The settle, as the spool writes it. */
  readonly settle: string
  /** The database's error or outcome. */
  readonly reason: string
  /** When it was refused, by the clock of the process that had sent it. */
  readonly atMs: number
}

/** A file of the directory; without a record when its bytes cannot be read. */
export type RefusedFile = { readonly hold: HoldId; readonly record: RefusedRecord | undefined }

export type RefusedFiles = {
  /** Resolves when the record is on disk, once for each settle. Rejects when the disk refuses. */
  keep(record: RefusedRecord): Promise<void>
  /** Claims the files of processes that are gone, and returns their keys. */
  adopt(): Promise<string[]>
  /** Keys of what this process has to retry. */
  keys(): string[]
  /** Undefined for a file that an operator has removed, or whose bytes are damaged. */
  read(key: string): Promise<RefusedRecord | undefined>
  /** The settle has committed. */
  done(key: string): Promise<void>
  /** Everything in the directory, whichever process retries it, or why that cannot be known. */
  list(): Promise<{ readonly files: readonly RefusedFile[] } | { readonly unseen: string }>
  /** Removes what is kept of a hold, for an operator. */
  remove(hold: HoldId): Promise<void>
  /** False from a failed write until a write succeeds again. */
  isWritable(): boolean
  size(): number
  close(): Promise<void>
}

type Waiting = { readonly record: RefusedRecord; readonly kept: PromiseWithResolvers<void> }

export async function createRefusedFiles(options: {
  readonly directory: string
  readonly owner: string
  readonly log: Log
}): Promise<RefusedFiles> {
  const { directory, log } = options
  const me = await ownPrefix(options.owner)
  const own = new Set<string>()
  const waiting = new Map<string, Waiting>()
  const state = { isWritable: true, writing: Promise.resolve() }

  const pathOf = (key: string) => join(directory, `${me}.${key}.refused`)

  function keep(record: RefusedRecord): Promise<void> {
    const key = `${record.hold}.${checksum(record.settle)}`
    const known = waiting.get(key)
    if (known !== undefined) return known.kept.promise
    const kept = Promise.withResolvers<void>()
    waiting.set(key, { record, kept })
    state.writing = state.writing.then(writeGroup)
    return kept.promise
  }

  /** Never rejects: those who wait are told. */
  async function writeGroup(): Promise<void> {
    const group = [...waiting].slice(0, FILES_AT_ONCE)
    if (group.length === 0) return
    try {
      await mkdir(directory, { recursive: true })
      const written = await Promise.allSettled(group.map(([key, one]) => write(key, one.record)))
      for (const one of written) if (one.status === 'rejected') throw one.reason
      await syncDirectory(directory)
      state.isWritable = true
      for (const [key, { kept }] of group) {
        own.add(key)
        kept.resolve()
      }
    } catch (error) {
      state.isWritable = false
      for (const [, { kept }] of group) kept.reject(error)
    }
    for (const [key] of group) waiting.delete(key)
  }

  /** A file under its final name is whole: it gets that name after its bytes are on disk. */
  async function write(key: string, record: RefusedRecord): Promise<void> {
    const half = `${pathOf(key)}.half`
    try {
      const handle = await open(half, 'w')
      try {
        await handle.writeFile(line(JSON.stringify(record)))
        await handle.sync()
      } finally {
        await handle.close()
      }
      await rename(half, pathOf(key))
    } catch (error) {
      await unlink(half).catch(() => undefined) // the write's own error is what counts
      throw error
    }
  }

  async function adopt(): Promise<string[]> {
    const before = [...own]
    const names = await readdir(directory).catch(() => undefined)
    if (names === undefined) return []
    // Removed by an operator; or claimed by a process of another container, which retries it.
    const there = new Set(names)
    for (const key of before) if (!there.has(`${me}.${key}.refused`)) own.delete(key)
    const claimed: string[] = []
    for (const name of names) {
      const isHalf = name.endsWith('.refused.half')
      if (!(isHalf || name.endsWith('.refused')) || (await isOwnerAlive(name))) continue
      // Its process died while it wrote, and told nobody that this file is on disk. One that
      // cannot be unlinked does no harm.
      if (isHalf) await unlink(join(directory, name)).catch(() => undefined)
      else if (await claim(name)) claimed.push(keyOf(name))
    }
    return claimed
  }

  async function claim(name: string): Promise<boolean> {
    try {
      await rename(join(directory, name), pathOf(keyOf(name)))
    } catch {
      return false // another process was faster
    }
    own.add(keyOf(name))
    return true
  }

  /** Undefined when the bytes are damaged. */
  async function readRecord(file: string): Promise<RefusedRecord | undefined> {
    const [text] = readLines(await readFile(file), file, log)
    return text === undefined ? undefined : (JSON.parse(text) as RefusedRecord)
  }

  async function list() {
    for (let attempt = 1; ; attempt++) {
      const names = await readdir(directory).catch((error: Error) => error.message)
      if (typeof names === 'string') return { unseen: names }
      const refused = names.filter((name) => name.endsWith('.refused'))
      // A running process has a spool file, so an empty directory is one that no process uses.
      if (refused.length === 0 && !names.some((name) => name.endsWith('.spool'))) {
        return { unseen: 'no process has its spool there' }
      }
      const files = await readAll(refused)
      // A process that claims a file meanwhile renames it: read the names again.
      if (attempt === LIST_ATTEMPTS || files.every((one) => !one.isMissing)) return { files }
    }
  }

  async function readAll(names: readonly string[]) {
    // Two processes may have been refused the same settle.
    const byKey = new Map(names.map((name) => [keyOf(name), name]))
    const files: (RefusedFile & { readonly isMissing: boolean })[] = []
    for (const [key, name] of [...byKey].sort()) {
      const hold = holdOf(key)
      try {
        files.push({ hold, record: await readRecord(join(directory, name)), isMissing: false })
      } catch (error) {
        const isMissing = (error as { code?: unknown }).code === 'ENOENT'
        files.push({ hold, record: undefined, isMissing })
      }
    }
    return files
  }

  return {
    keep,
    adopt,
    keys: () => [...own],
    read: (key) =>
      readRecord(pathOf(key)).catch((error: unknown) => {
        ignoreMissing(error)
        own.delete(key)
        return undefined
      }),
    async done(key) {
      await unlink(pathOf(key)).catch(ignoreMissing)
      own.delete(key)
    },
    list,
    async remove(hold) {
      for (const name of await readdir(directory)) {
        if (!name.endsWith('.refused') || holdOf(keyOf(name)) !== hold) continue
        await unlink(join(directory, name)).catch(ignoreMissing)
      }
      await syncDirectory(directory)
    },
    isWritable: () => state.isWritable,
    size: () => own.size,
    close: () => state.writing,
  }
}

/** `<owner>.<pid>.<start>.<hold>.<checksum>.refused`: the hold and the checksum. */
function keyOf(name: string): string {
  return name.split('.').slice(3, 5).join('.')
}

function holdOf(key: string): HoldId {
  return key.split('.')[0] as HoldId
}
