// A lock on a file that the kernel releases when its process ends, however it ends. Node has no
// call for file locks; SQLite takes one (fcntl) for each exclusive transaction. It works between
// containers that share a volume, where process numbers are equal and say nothing.
import { unlinkSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

const SQLITE_BUSY = 5

export type FileLock = {
  /** Releases the lock and removes its file. */
  release(): void
}

/** Undefined while another process holds the lock. Throws when the directory has no locks. */
export function tryLock(file: string): FileLock | undefined {
  const database = new DatabaseSync(file, { timeout: 0 })
  try {
    // In memory, or SQLite would put a journal beside the file.
    database.exec('pragma journal_mode = memory; begin exclusive')
  } catch (error) {
    database.close()
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return undefined
    throw error
  }
  return {
    release() {
      // Removed before it is released: a process that opened it in between holds a lock on a file
      // without a name, and finds no spool file of this owner.
      try {
        unlinkSync(file)
      } catch {
        // Left behind, an empty lock file does no harm.
      }
      database.close()
    },
  }
}
