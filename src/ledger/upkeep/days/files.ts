// The files of an exported day: a folder with numbered parts, each compressed lines of JSON, and a
// manifest that is written last. A part is written under another name, synced, renamed and read
// back; so a part that has its name is whole, and an export that was interrupted goes on after the
// last one. The folder may be a mounted bucket: files are only created and renamed.
import { createHash } from 'node:crypto'
import { mkdir, open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { z } from 'zod'
import { Fault } from '../../../platform/assert.ts'
import { dayRefusal } from '../../refusals.ts'
import { syncDirectory } from '../../spool/files.ts'

const compress = promisify(gzip)
const decompress = promisify(gunzip)

const MANIFEST = 'manifest.json'
/**
 * Entries say what every customer spent, when and on what, so other users of the machine may not
 * read them; the group may, for a program that backs them up. A mounted bucket ignores modes.
 */
const FILE_MODE = 0o640
const FOLDER_MODE = 0o750

const manifest = z.object({
  day: z.string(),
  cell: z.number(),
  rows: z.string().regex(/^\d+$/),
  digest: z.string(),
  parts: z.array(z.object({ file: z.string(), rows: z.number(), digest: z.string() })),
})

export type Manifest = z.infer<typeof manifest>
export type Part = Manifest['parts'][number]

/**
 * The folder of a day within the configured directory, which cells may share. The number of the
 * table separates a day from the same day of a database that was made anew.
 */
export function folderOf(
  directory: string,
  p: { readonly day: string; readonly cell: number; readonly table: number },
): string {
  return join(directory, `entries-${p.day}-cell-${p.cell}-${p.table}`)
}

export function partName(number: number): string {
  return `${String(number).padStart(6, '0')}.jsonl.gz`
}

export function digestOf(text: string | Buffer): string {
  return createHash('sha256').update(text).digest('hex')
}

/**
 * Writes a part unless it is there already. The file is read back and compared. A whole part with
 * other rows is never replaced: it may be the only copy of them.
 */
export async function ensurePart(folder: string, part: Part, text: string): Promise<void> {
  const found = await digestOfPart(folder, part.file)
  if (found === part.digest) return
  if (found !== undefined) {
    const sentence = `${join(folder, part.file)} has other rows; move it away after a look at it`
    throw dayRefusal('export_differs', sentence)
  }
  await writeWhole(folder, part.file, await compress(text)).catch(outOfReach)
  if ((await digestOfPart(folder, part.file)) !== part.digest) {
    throw new Fault(`${join(folder, part.file)} does not contain what was written`)
  }
}

/** The lines of a part; throws when they are not those that were exported. */
export async function readPart(folder: string, part: Part): Promise<string[]> {
  const compressed = await readFile(join(folder, part.file)).catch(outOfReach)
  const bytes = await decompress(compressed).catch(() => undefined)
  if (bytes === undefined || digestOf(bytes) !== part.digest) {
    throw dayRefusal('export_differs', `${join(folder, part.file)} was changed`)
  }
  return bytes.toString('utf8').split('\n').slice(0, -1)
}

/** The digest of a whole day. */
export function digestOfParts(parts: readonly Part[]): string {
  return digestOf(parts.map((part) => part.digest).join('\n'))
}

export function writeManifest(folder: string, content: Manifest): Promise<void> {
  const bytes = Buffer.from(`${JSON.stringify(content, null, 2)}\n`)
  return writeWhole(folder, MANIFEST, bytes).catch(outOfReach)
}

export async function readManifest(folder: string): Promise<Manifest> {
  const text = await readFile(join(folder, MANIFEST), 'utf8').catch(outOfReach)
  try {
    return manifest.parse(JSON.parse(text))
  } catch (error) {
    throw dayRefusal('export_differs', `${join(folder, MANIFEST)} was changed`, {}, error)
  }
}

/** Undefined when there is no such part, or a damaged one. */
async function digestOfPart(folder: string, file: string): Promise<string | undefined> {
  try {
    return digestOf(await decompress(await readFile(join(folder, file))))
  } catch {
    return undefined
  }
}

/** A bucket that is not mounted, a full disk, a folder of another user. */
function outOfReach(error: Error): never {
  throw dayRefusal('export_out_of_reach', error.message, {}, error)
}

async function writeWhole(folder: string, file: string, bytes: Buffer): Promise<void> {
  await mkdir(folder, { recursive: true, mode: FOLDER_MODE })
  const temporary = join(folder, `${file}.${process.pid}.part`)
  const handle = await open(temporary, 'w', FILE_MODE)
  try {
    await handle.writeFile(bytes)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(temporary, join(folder, file))
  await syncDirectory(folder).catch((error: { code?: unknown }) => {
    // A mounted bucket has no directories to sync, and says so.
    if (error.code !== 'EINVAL' && error.code !== 'ENOTSUP') throw error
  })
}
