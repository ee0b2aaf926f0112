// How the endings of requests are shown: badge colour, whether they cost anything, upstream status.
import type { Ending } from '../../../../src/cabinet/contract/usage.ts'
import type { BadgeTone } from '../../../ui/parts.tsx'

export const endingTones: Readonly<Record<Ending, BadgeTone>> = {
  complete: 'good',
  client_left: 'note',
  client_slow: 'note',
  refused: 'warn',
  upstream_failed: 'bad',
  process_lost: 'bad',
  given_up: 'note',
  overdue: 'bad',
  drained: 'bad',
  shed: 'warn',
}

export function isCharged(ending: Ending): boolean {
  return ending === 'complete' || ending === 'client_left' || ending === 'client_slow'
}

/** The upstream's HTTP status in a reason such as `upstream 400 invalid_request_error`. */
export function statusIn(reason: string | null): string | undefined {
  return /^upstream (\d{3})\b/.exec(reason ?? '')?.[1]
}
