// Ends the processes of a development run that was killed: it reads their process groups, one per
// line, from standard input and acts when that ends.
import { createInterface } from 'node:readline'

const groups: number[] = []
for await (const line of createInterface({ input: process.stdin })) groups.push(Number(line))
for (const group of groups) {
  try {
    process.kill(-group, 'SIGKILL')
  } catch {
    // The group has already ended.
  }
}
