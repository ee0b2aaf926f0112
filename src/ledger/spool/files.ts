// Shared by all files of the spool directory: names that say which process owns them, lines with a
// checksum, and directory entries that survive a power cut.
import { open, readFile } from 'node:fs/promises'
import { crc32 } from 'node:zlib'

/**
 * A spool file. `holder` is the process that sends its settles and holds the lock
 * `<holder>.lock`; `origin` is the process that wrote them.
 */
export type SpoolName = {
  readonly name: string
  readonly holder: string
  readonly origin: string
  /** Set in names of versions before 0.2, which had no locks: the process number and its start. */
  readonly process: { readonly pid: number; readonly start: string } | undefined
}

/** `<process>.spool`; after another process has claimed it, `<holder>-<process>-<n>.spool`. */
const NAME = /^(?<holder>\w+)(?:-(?<origin>\w+)-\d+)?\.spool$/
/** `<process>.<pid>.<start>…`: spool files and files of single refused settles. */
const OLD_NAME = /^(?<holder>\w+)\.(?<pid>\d+)\.(?<start>\w+)(?:\..+)?\.(?:spool|refused)$/

/** Undefined for other files, such as locks. */
export function parseName(name: string): SpoolName | undefined {
  const now = NAME.exec(name)?.groups
  if (now?.holder !== undefined) {
    return { name, holder: now.holder, origin: now.origin ?? now.holder, process: undefined }
  }
  const old = OLD_NAME.exec(name)?.groups
  if (old?.holder === undefined) return undefined
  const process = { pid: Number(old.pid), start: old.start ?? '' }
  return { name, holder: old.holder, origin: old.holder, process }
}

/** For names of versions before 0.2: the process number may belong to another process by now. */
export async function isProcessAlive({ pid, start }: NonNullable<SpoolName['process']>) {
  try {
    const text = await readFile(`/proc/${pid}/stat`, 'utf8')
    // The second field is the command in parentheses and may contain spaces.
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] === start
  } catch {
    return false
  }
}

/** The checksum before each line distinguishes a record from a partly written one. */
export function line(text: string): string {
  return `${checksum(text)} ${text}\n`
}

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, '0')
}

/** `texts`: the records. `damaged`: whole lines whose checksum is wrong, byte for byte. */
export function readLines(bytes: Buffer): { texts: string[]; damaged: Buffer[] } {
  const texts: string[] = []
  const damaged: Buffer[] = []
  // Line by line: the text of a file over 512 MB does not fit into one string.
  for (let from = 0; from < bytes.length; ) {
    const end = bytes.indexOf('\n', from)
    // A line without an end was never acknowledged: its fsync did not return.
    if (end < 0) break
    const one = bytes.subarray(from, end + 1)
    const text = one.subarray(9, -1).toString('utf8')
    if (one.equals(Buffer.from(line(text)))) texts.push(text)
    else if (one.length > 1) damaged.push(one)
    from = end + 1
  }
  return { texts, damaged }
}

/** A new file survives a power cut only when its directory entry is on disk, too. */
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
