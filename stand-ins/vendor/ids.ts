// Ids in the vendor's style (`msg_01…`, `req_011…`). The same seed gives the same ids in the same
// order, which makes recordings repeatable; without a seed they differ from run to run.
import { hash, randomUUID } from 'node:crypto'

const prefixes = {
  message: 'msg_01',
  request: 'req_011',
  toolUse: 'toolu_01',
  serverToolUse: 'srvtoolu_01',
} as const

export function createIds(seed: string = randomUUID()) {
  let count = 0
  return {
    next(kind: keyof typeof prefixes): string {
      count += 1
      const letters = hash('sha256', `${seed}:${count}`, 'base64').replaceAll(/[+/=]/g, 'x')
      return prefixes[kind] + letters.slice(0, 22)
    },
  }
}

export type Ids = ReturnType<typeof createIds>
