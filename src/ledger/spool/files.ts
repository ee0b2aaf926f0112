// What the files of the spool directory have in common: a name that tells which process owns them,
// lines with a checksum, and directory entries that survive a power cut.
import { open, readFile } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import type { Log } from '../../platform/log.ts'

/** What the names of this process's files begin with: `<owner>.<pid>.<start>`. */
export async function ownPrefix(owner: string): Promise<string> {
  return `${owner}.${process.pid}.${await startOf(process.pid)}`
}

/** Names carry pid and start time; a pid alone may have been given to another process. */
export async function isOwnerAlive(name: string): Promise<boolean> {
  const [, pid, start] = name.split('.')
  return pid !== undefined && start !== undefined && (await startOf(Number(pid))) === start
}

/** When a process started, in ticks since boot; `none` when there is no such process. */
async function startOf(pid: number): Promise<string> {
  try {
    const text = await readFile(`/proc/${pid}/stat`, 'utf8')
    // The second field is the command in parentheses and may contain spaces.
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? 'none'
  } catch {
    return pid === process.pid ? 'alive' : 'none'
  }
}

/** A checksum before each line tells a torn tail from a record. */
export function line(text: string): string {
  return `${checksum(text)} ${text}\n`
}

export function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, '0')
}

export function readLines(bytes: Buffer, file: string, log: Log): string[] {
  const texts: string[] = []
  for (const one of bytes.toString('utf8').split('\n')) {
    if (one === '') continue
    const text = one.slice(9)
    // A torn line was never acknowledged: its fsync did not return.
    if (line(text) === `${one}\n`) texts.push(text)
    else log.warn({ file, bytes: one.length }, 'a torn line in a spool file was passed over')
  }
  return texts
}

/** A new file survives a power cut only when its directory's entry is on disk too. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

export function ignoreMissing(error: unknown): void {
  if ((error as { code?: unknown }).code !== 'ENOENT') throw error
}
