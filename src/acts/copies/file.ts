// A copy in a file that is only appended to, one line for each act: on a mounted volume of another
// machine, or with an attribute that lets nobody shorten it.
import { type FileHandle, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { newestMarkOf } from '../chain.ts'
import type { Copy } from './port.ts'

/** More than one call of shipping, with lines of the usual length; the longest is 20 KiB. */
const TAIL_BYTES = 512 * 1_024
/** The group may collect it. */
const MODE = 0o640
const NEWLINE = 10

export function openFileCopy(path: string): Copy {
  return {
    async last() {
      const file = await open(path, 'r').catch(undefinedIfAbsent)
      if (file === undefined) return undefined
      try {
        return newestMarkOf((await readEnd(file, TAIL_BYTES)).toString())
      } finally {
        await file.close()
      }
    },

    async append(lines) {
      const isNew = (await open(path, 'r').then(closed, undefinedIfAbsent)) === undefined
      const file = await open(path, 'a+', MODE)
      try {
        // A process that was killed may have left half a line, which stays and is skipped.
        const end = await readEnd(file, 1)
        const before = end.length === 0 || end[0] === NEWLINE ? '' : '\n'
        await file.writeFile(`${before}${lines.join('\n')}\n`)
        await file.sync()
      } finally {
        await file.close()
      }
      if (isNew) await syncFolder(dirname(path))
    },
  }
}

async function closed(file: FileHandle): Promise<true> {
  await file.close()
  return true
}

function undefinedIfAbsent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

async function readEnd(file: FileHandle, bytes: number): Promise<Buffer> {
  const { size } = await file.stat()
  const buffer = Buffer.alloc(Math.min(bytes, size))
  const { bytesRead } = await file.read(buffer, 0, buffer.length, size - buffer.length)
  return buffer.subarray(0, bytesRead)
}

/** The file's name survives a power cut only when its folder is on the disk too. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  await folder.sync().finally(() => folder.close())
}
