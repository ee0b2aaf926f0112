// Outlives a development run that was killed, only to end its processes: it is told their groups, a
// line each, and acts when its standard input ends.
import { createInterface } from 'node:readline'

const groups: number[] = []
for await (const line of createInterface({ input: process.stdin })) groups.push(Number(line))
for (const group of groups) {
  try {
    process.kill(-group, 'SIGKILL')
  } catch {
    // It is gone already.
  }
}
