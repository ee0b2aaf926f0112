// Takes every free file descriptor of this process, as a flood of connections does.
import { execFileSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'

/** More than a process of these tests uses, and few enough to be taken at once. */
const DESCRIPTORS = 128

/** Returns the function that frees them. */
export function takeDescriptors(): () => void {
  execFileSync('prlimit', [`--pid=${process.pid}`, `--nofile=${DESCRIPTORS}:`])
  const taken: number[] = []
  try {
    for (;;) taken.push(openSync('/dev/null', 'r'))
  } catch {
    return () => {
      for (const one of taken.splice(0)) closeSync(one)
    }
  }
}
