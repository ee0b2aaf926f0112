// A disk of a few blocks, for tests that fill one.
import { execFileSync } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

const mounted = new Set<string>()

/** Makes the directory a disk of 32 KiB; without the right to mount, skips the test. */
export function mountSmallDisk(t: TestContext, directory: string) {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=32k', 'tmpfs', directory])
  } catch {
    t.skip('needs the right to mount a small disk')
    return undefined
  }
  mounted.add(directory)
  const other = join(directory, 'other')
  return {
    /** Writes until the disk is full. */
    fill: () => writeFile(other, Buffer.alloc(1 << 20)).catch(() => undefined),
    free: () => rm(other),
  }
}

/** Call it after the files are closed and before the directory is removed. */
export function unmountSmallDisk(directory: string): void {
  if (mounted.delete(directory)) execFileSync('umount', ['--lazy', directory])
}
