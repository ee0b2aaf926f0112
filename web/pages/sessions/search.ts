// The search parameters of the page of sessions: how they are grouped, and which one is open.
import type { SessionKind } from '../../../src/cabinet/contract/sessions.ts'

/** `kind` is left out for sessions; without `id` the page is the list. */
export type SessionsSearch = {
  readonly kind?: Extract<SessionKind, 'label'>
  readonly id?: string
}

export function sessionsSearchOf({ kind, id }: Record<string, unknown>): SessionsSearch {
  return {
    ...(kind === 'label' ? { kind } : {}),
    // The router turns digits into a number.
    ...(typeof id === 'string' || typeof id === 'number' ? { id: `${id}` } : {}),
  }
}

export function searchOf(kind: SessionKind, id?: string): SessionsSearch {
  return { ...(kind === 'label' ? { kind } : {}), ...(id === undefined ? {} : { id }) }
}
