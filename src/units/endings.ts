// How requests end, as the ledger records it.

/** The endings with a charge. */
export const paidEndings = ['complete', 'client_left', 'client_slow'] as const
export const freeEndings = [
  'refused',
  'upstream_failed',
  'process_lost',
  'given_up',
  'overdue',
  'drained',
  'shed',
] as const
export const endings = [...paidEndings, ...freeEndings] as const
export type PaidEnding = (typeof paidEndings)[number]
export type FreeEnding = (typeof freeEndings)[number]
export type Ending = PaidEnding | FreeEnding
