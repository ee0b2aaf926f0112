// What the endings of requests mean for their owner.
import type { Ending } from '../../../src/cabinet/contract/usage.ts'
import type { BadgeTone } from '../../ui/parts.tsx'

export const tones: Readonly<Record<Ending, BadgeTone>> = {
  complete: 'good',
  client_left: 'note',
  refused: 'warn',
  upstream_failed: 'bad',
  process_lost: 'bad',
  given_up: 'note',
  overdue: 'bad',
}

export function isCharged(ending: Ending): boolean {
  return ending === 'complete' || ending === 'client_left'
}

/** What an upstream said to a refused request: `upstream 400 invalid_request_error`. */
export function statusIn(reason: string | null): string | undefined {
  return /^upstream (\d{3})\b/.exec(reason ?? '')?.[1]
}
