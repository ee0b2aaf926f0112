// Which processes of a spool directory are dead, so that their files may be claimed.
import { join } from 'node:path'
import type { Log } from '../../platform/log.ts'
import { isProcessAlive, type SpoolName } from './files.ts'
import { type FileLock, tryLock } from './lock.ts'

/** Holds the locks of the dead processes that it finds, until `release`. */
export function createDeadProcesses(directory: string, log: Log) {
  const locks = new Map<string, FileLock | undefined>()

  function lockOf(holder: string): FileLock | undefined {
    try {
      return tryLock(join(directory, `${holder}.lock`))
    } catch (error) {
      log.error({ err: error, directory, holder }, 'a spool file cannot be locked')
      return undefined
    }
  }

  return {
    /** False while the process lives, or another process claims its files. */
    async has({ holder, process }: SpoolName): Promise<boolean> {
      if (process !== undefined) return !(await isProcessAlive(process))
      if (!locks.has(holder)) locks.set(holder, lockOf(holder))
      return locks.get(holder) !== undefined
    },
    release(): void {
      for (const lock of locks.values()) lock?.release()
    },
  }
}
