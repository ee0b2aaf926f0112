// How a key comes into force: the server makes it, this browser keeps it and reads it back, and
// only then the server is told to put it in force. A lock lets one tab do this at a time; whoever
// comes second finds the key that the first one made and makes no other.
import type { KeyState, NewKey } from '../../../src/cabinet/contract/contract.ts'
import { call, isNo } from '../../runtime/api.ts'
import { KeyringClosed, keep, keepOnly, keptFor } from '../../runtime/keyring.ts'

export type Issued =
  /** Kept here and in force. */
  | { readonly outcome: 'done'; readonly state: KeyState }
  /** Another tab or device was first. */
  | { readonly outcome: 'elsewhere'; readonly state: KeyState }
  /** This browser keeps nothing: the owner must save it, and then `putInForce`. */
  | { readonly outcome: 'unkept'; readonly made: NewKey }

/**
 * `seen`: the id of the key that the owner saw in force when asking for another. May be refused
 * with `session_not_fresh`, before anything was made.
 */
export function issue(account: string, seen: string | undefined): Promise<Issued> {
  return locked(account, async () => {
    const before = await call('GET /api/key')
    if (before.active?.id !== seen) return { outcome: 'elsewhere', state: before }
    const made = await call('POST /api/key')
    try {
      await keep(
        { account, keyId: made.id, last4: made.last4, createdAt: made.createdAt },
        made.plain,
      )
    } catch (error) {
      if (!(error instanceof KeyringClosed)) throw error
      return { outcome: 'unkept', made }
    }
    return { outcome: 'done', state: await confirmKept(account, made.id) }
  })
}

/** Finishes what broke off between keeping and confirming. */
export function finish(account: string, keyId: string): Promise<KeyState> {
  return locked(account, () => confirmKept(account, keyId))
}

/** For a key that the owner saved elsewhere. */
export function putInForce(keyId: string): Promise<KeyState> {
  return call('POST /api/key/:id/confirm', { params: { id: keyId } })
}

/** Whether a pasted value is the key in force; if so, this browser keeps it from now on. */
export async function adopt(account: string, state: KeyState, plain: string): Promise<boolean> {
  const { active } = state
  if (active === null) return false
  const { isCurrent } = await call('POST /api/key/verify', { body: { plain } })
  if (!isCurrent) return false
  const { id: keyId, last4, createdAt } = active
  await locked(account, () => keep({ account, keyId, last4, createdAt }, plain))
  return true
}

/**
 * Wipes what opens nothing any more. Under the lock and by the server's word of this moment: what
 * another tab has just been given is never taken for an old key.
 */
export function tidy(account: string): Promise<void> {
  return locked(account, async () => {
    if ((await keptFor(account)).length === 0) return
    const { active, pending } = await call('GET /api/key')
    await keepOnly(
      account,
      [active?.id, pending?.id].filter((id) => id !== undefined),
    )
  })
}

async function confirmKept(account: string, keyId: string): Promise<KeyState> {
  try {
    const state = await putInForce(keyId)
    await keepOnly(account, [keyId])
    return state
  } catch (error) {
    // Replaced on another device meanwhile: what is kept here will never open anything.
    if (isNo(error, 'key_pending_missing')) {
      const { active } = await call('GET /api/key')
      await keepOnly(account, active === null ? [] : [active.id])
    }
    throw error
  }
}

function locked<Answer>(account: string, work: () => Promise<Answer>): Promise<Answer> {
  return navigator.locks === undefined ? work() : navigator.locks.request(`key:${account}`, work)
}
