// Claims the spool files of dead processes, each by itself. A line is removed only when its settle
// was sent: lines that this process cannot send stay in a file that every process, also of another
// version or another cell, may claim.
import { open, readdir, readFile, rename, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '../../platform/log.ts'
import { createDeadProcesses } from './dead-processes.ts'
import {
  ignoreMissing,
  line,
  parseName,
  readLines,
  type SpoolName,
  syncDirectory,
} from './files.ts'

/** True for records that this process can read and that are of its cell. */
export type CanSend = (text: string) => boolean

type Claimed = { readonly file: string; readonly texts: string[] }
/** `left` names the file with lines for others. */
type Found = { readonly claimed?: Claimed; readonly left?: string }

export function createClaims(options: {
  readonly directory: string
  readonly owner: string
  readonly log: Log
  /** Without it a third process would claim a file from this one. */
  readonly takeOwnLock: () => void
}) {
  const { directory, owner, log } = options
  const state = { serial: 0, left: new Set<string>() }

  async function claim(name: SpoolName, canSend: CanSend): Promise<Found> {
    state.serial += 1
    const p = { directory, owner, serial: state.serial, canSend }
    const found = await claimFile(name, p).catch((error: unknown): Found => {
      log.warn({ err: error, directory, file: name.name }, 'a spool file cannot be read')
      return { left: name.name }
    })
    const { left: file } = found
    if (file !== undefined && !state.left.has(file)) {
      log.error({ directory, file }, 'a spool file has charges that this process cannot send')
    }
    return found
  }

  return {
    /** Also returns the processes of which no file is left. */
    async claimAll(canSend: CanSend): Promise<{ claimed: Claimed[]; processes: string[] }> {
      const claimed: Claimed[] = []
      const processes = new Set<string>()
      const left = new Set<string>()
      const all = (await readdir(directory).catch(() => [])).flatMap((one) => parseName(one) ?? [])
      const dead = createDeadProcesses(directory, log)
      try {
        for (const name of all) {
          if (name.holder === owner || !(await dead.has(name))) continue
          options.takeOwnLock()
          const found = await claim(name, canSend)
          if (found.left !== undefined) left.add(found.left)
          if (found.claimed === undefined) continue
          claimed.push(found.claimed)
          processes.add(name.holder).add(name.origin)
        }
      } finally {
        dead.release()
      }
      for (const name of [...left].flatMap((one) => parseName(one) ?? [])) {
        processes.delete(name.holder)
        processes.delete(name.origin)
      }
      state.left = left
      return { claimed, processes: [...processes] }
    },

    /** How many files the last `claimAll` left. */
    left: () => state.left.size,
  }
}

/** Claims nothing when another process was faster. `serial` is not used twice by one process. */
async function claimFile(
  { name, origin }: SpoolName,
  p: { directory: string; owner: string; serial: number; canSend: CanSend },
): Promise<Found> {
  const file = join(p.directory, name)
  const mine = join(p.directory, `${p.owner}-${origin}-${p.serial}.spool`)
  // Read before it is renamed: a file with nothing to send here keeps its name.
  const before = await readSorted(file, p.canSend).catch(ignoreMissing)
  if (before === undefined) return {}
  if (before.texts.length === 0 && before.kept.length > 0) return { left: name }
  try {
    await rename(file, mine)
  } catch {
    return {}
  }
  try {
    // Read again: its process may have been alive, and have written until the file was renamed.
    const { texts, kept } = await readSorted(mine, p.canSend)
    const claimed = { file: mine, texts }
    // No process holds the lock of this name: the next one that can send the lines claims it.
    const left = `kept${p.owner}-${origin}-${p.serial}.spool`
    if (kept.length > 0) await writeDurably(join(p.directory, left), kept, p.directory)
    if (texts.length === 0) await unlink(mine)
    return kept.length > 0 ? { claimed, left } : { claimed }
  } catch (error) {
    await rename(mine, file)
    throw error
  }
}

async function readSorted(file: string, canSend: CanSend) {
  const { texts, damaged } = readLines(await readFile(file))
  const others = texts.filter((text) => !canSend(text)).map((text) => Buffer.from(line(text)))
  return { texts: texts.filter(canSend), kept: [...damaged, ...others] }
}

async function writeDurably(file: string, parts: Buffer[], directory: string): Promise<void> {
  const handle = await open(file, 'wx')
  try {
    await handle.writeFile(Buffer.concat(parts))
    await handle.sync()
  } finally {
    await handle.close()
  }
  await syncDirectory(directory)
}
