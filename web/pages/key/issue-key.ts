// Issues a key: the server creates it, this browser stores it and reads it back, and only then the
// page confirms it, which makes it the active key. A lock lets one tab do this at a time; a second
// tab finds the key that the first one created and creates no other.
import type { KeyState, NewKey } from '../../../src/cabinet/contract/contract.ts'
import { call, isApiRefusal } from '../../runtime/api.ts'
import { KeyringUnavailable, listKeys, storeKey, wipeAllKeysBut } from '../../runtime/keyring.ts'

export type Issued =
  /** Stored in this browser and active. */
  | { readonly outcome: 'done'; readonly state: KeyState }
  /** Another tab or device issued a key first. */
  | { readonly outcome: 'elsewhere'; readonly state: KeyState }
  /** This browser cannot store keys: the owner must save it before `confirmKey` is called. */
  | { readonly outcome: 'unstored'; readonly made: NewKey }

/**
 * `seen`: the id of the active key that the page showed when the owner asked for a new one. The
 * server may refuse with `step_up_needed` before it creates anything.
 */
export function issueKey(account: string, seen: string | undefined): Promise<Issued> {
  return withKeyLock(account, async () => {
    const before = await call('GET /api/key')
    if (before.active?.id !== seen) return { outcome: 'elsewhere', state: before }
    const made = await call('POST /api/key')
    try {
      await storeKey(
        { account, keyId: made.id, last4: made.last4, createdAt: made.createdAt },
        made.plain,
      )
    } catch (error) {
      if (!(error instanceof KeyringUnavailable)) throw error
      return { outcome: 'unstored', made }
    }
    return { outcome: 'done', state: await confirmStored(account, made.id) }
  })
}

/** Completes an issue that was interrupted between storing and confirming. */
export function finishIssue(account: string, keyId: string): Promise<KeyState> {
  return withKeyLock(account, () => confirmStored(account, keyId))
}

/** Makes a pending key the active one; called directly only for a key the owner saved elsewhere. */
export function confirmKey(keyId: string): Promise<KeyState> {
  return call('POST /api/key/:id/confirm', { params: { id: keyId } })
}

/** Stores a pasted key if the server says that it is the active one; false otherwise. */
export async function storePastedKey(
  account: string,
  state: KeyState,
  plain: string,
): Promise<boolean> {
  const { active } = state
  if (active === null) return false
  const { isCurrent } = await call('POST /api/key/verify', { body: { plain } })
  if (!isCurrent) return false
  const { id: keyId, last4, createdAt } = active
  await withKeyLock(account, () => storeKey({ account, keyId, last4, createdAt }, plain))
  return true
}

/**
 * Wipes keys that are neither active nor pending. It holds the lock and asks the server, so that a
 * key which another tab has just received is never taken for an old one.
 */
export function wipeStaleKeys(account: string): Promise<void> {
  return withKeyLock(account, async () => {
    if ((await listKeys(account)).length === 0) return
    const { active, pending } = await call('GET /api/key')
    await wipeAllKeysBut(
      account,
      [active?.id, pending?.id].filter((id) => id !== undefined),
    )
  })
}

async function confirmStored(account: string, keyId: string): Promise<KeyState> {
  try {
    const state = await confirmKey(keyId)
    await wipeAllKeysBut(account, [keyId])
    return state
  } catch (error) {
    // Another device has replaced it meanwhile, so the key stored here will never be active.
    if (isApiRefusal(error, 'key_pending_missing')) {
      const { active } = await call('GET /api/key')
      await wipeAllKeysBut(account, active === null ? [] : [active.id])
    }
    throw error
  }
}

function withKeyLock<Answer>(account: string, work: () => Promise<Answer>): Promise<Answer> {
  return navigator.locks === undefined ? work() : navigator.locks.request(`key:${account}`, work)
}
