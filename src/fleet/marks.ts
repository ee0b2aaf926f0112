// Which connections of a process have a request under way: one byte for each, in a file that the
// parent and the process share. The process writes it, and the parent reads it after the process
// has died; a message might be lost with the process. A write takes 2 µs (November 2026).
import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The file's descriptor in the process: after stdin, stdout, stderr and the message channel. */
const FD = 4
/** Connections of a fleet at a time: a quarter of the file descriptors in deploy/systemd. */
export const MARKS = 32_768

/** No request has arrived in this process. */
const UNUSED = Buffer.from([0])
/** A request is under way. */
const BUSY = Buffer.from([1])
/** This process has answered all its requests. */
const SERVED = Buffer.from([2])

export type Mark = 'unused' | 'busy' | 'served'

/** /dev/shm is memory: a write to a disk may wait for the disk. A container may have only that. */
const FOLDERS = ['/dev/shm', tmpdir()]

const created = { count: 0 }

/** For the parent: the marks of a process that it is about to start. */
export function createMarks(folders: readonly string[] = FOLDERS) {
  const fd = openInFirst(folders)
  return {
    /** For the process's list of descriptors. `ignore` is /dev/null, which can be written to. */
    stdio: fd ?? ('ignore' as const),
    setUnused(slot: number): void {
      if (fd !== undefined) writeSync(fd, UNUSED, 0, 1, slot)
    },
    /** Without a file every connection counts as busy. */
    read(slots: number): (slot: number) => Mark {
      if (fd === undefined) return () => 'busy'
      const bytes = Buffer.alloc(slots)
      readSync(fd, bytes, 0, slots, 0)
      return (slot) =>
        bytes[slot] === UNUSED[0] ? 'unused' : bytes[slot] === SERVED[0] ? 'served' : 'busy'
    },
    close(): void {
      if (fd !== undefined) closeSync(fd)
    },
  }
}

export type Marks = ReturnType<typeof createMarks>

/** In the first folder that has room. */
function openInFirst(folders: readonly string[]): number | undefined {
  for (const folder of folders) {
    const fd = openUnnamed(folder)
    if (fd === undefined) continue
    if (hasRoom(fd)) return fd
    closeSync(fd)
  }
  return undefined
}

function openUnnamed(folder: string): number | undefined {
  created.count += 1
  const path = join(folder, `tollgate-marks-${process.pid}-${created.count}`)
  try {
    const fd = openSync(path, 'wx+', 0o600)
    unlinkSync(path)
    return fd
  } catch {
    return undefined
  }
}

/** Writes every byte now: in a file with holes a later write fails when the folder is full. */
function hasRoom(fd: number): boolean {
  try {
    return writeSync(fd, Buffer.alloc(MARKS), 0, MARKS, 0) === MARKS
  } catch {
    return false
  }
}

/** For a process: the mark of one of its connections. */
export function markOf(slot: number): { setBusy(): void; setIdle(): void } {
  return {
    setBusy: () => void writeSync(FD, BUSY, 0, 1, slot),
    setIdle: () => void writeSync(FD, SERVED, 0, 1, slot),
  }
}
