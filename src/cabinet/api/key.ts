// The owner's API key: created by a click after the first purchase or with a trial, shown once,
// confirmed by the browser that saved it. The plain key is in one answer and in no log,
// e-mail or table; a pasted key is compared and not stored. The keys module decides
// what a key is and when it stops.
import { z } from 'zod'
import type { Accounts, KeyEmail, Session } from '../../accounts/accounts.ts'
import type { Keys, KeyView } from '../../keys/keys.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { Payments } from '../../payments/payments.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Db, Tx } from '../../platform/db/db.ts'
import type { BookId } from '../../platform/ids.ts'
import { isRefusal } from '../../platform/refusal.ts'
import { wrongKeyCodes } from '../answers.ts'
import type * as contract from '../contract/contract.ts'
import { CabinetRefusal } from '../refusals.ts'
import { timeOf, timeOrNull } from './amounts.ts'
import type { RouteTable } from './routes.ts'
import { latestRequests } from './usage/requests.ts'

export type KeyOptions = {
  readonly db: Db
  readonly clock: Clock
  readonly keys: Keys
  readonly ledger: Pick<Ledger, 'usage' | 'balance'>
  readonly payments: Pick<Payments, 'mayHaveKey'>
  readonly accounts: Pick<Accounts, 'emailOwner' | 'requireProofs' | 'sessions'>
}

/** Each costs an Argon2id hash; only a program clicks more often. */
const CREATE_ALLOWANCE = { max: 10, seconds: 600 }
const CONFIRM_ALLOWANCE = { max: 30, seconds: 600 }
/** Enough to find the right key among a few old ones; guessing 256 bits is hopeless anyway. */
const VERIFY_ALLOWANCE = { max: 10, seconds: 60 }
const REVOKE_ALLOWANCE = { max: 10, seconds: 600 }

export function createKeyRoutes(options: KeyOptions) {
  const { db, clock, keys, ledger, payments, accounts } = options

  async function stateOf(book: BookId): Promise<contract.KeyState> {
    const { active, pending } = await keys.find(book)
    if (active === undefined) {
      const canCreate = await payments.mayHaveKey(book)
      return { state: canCreate ? 'none' : 'locked', active: null, pending: keyOrNull(pending) }
    }
    const [latest] = await latestRequests(ledger.usage, book)
    // Requests older than the key were made with another key.
    const isOfThisKey = latest !== undefined && latest.at >= active.createdAt
    const lastUsedAt = timeOrNull(isOfThisKey ? latest.at : null)
    return {
      state: 'active',
      active: { ...keyOf(active), lastUsedAt },
      pending: keyOrNull(pending),
    }
  }

  /**
   * Every key after the first requires the proofs of its level, also when the one before is
   * revoked: any session can revoke, so a stolen cookie could otherwise revoke the key and create
   * another one.
   * The book's fence is 0 until its first key is confirmed.
   */
  async function hasHadKey(book: BookId): Promise<boolean> {
    const balance = await ledger.balance(book)
    return balance !== undefined && balance.fence > 0n
  }

  async function createKey(session: Session): Promise<contract.NewKey> {
    const { book } = session
    const { active } = await keys.find(book)
    if (active === undefined && !(await payments.mayHaveKey(book))) {
      throw new CabinetRefusal('purchase_missing', 'A key can be made after the first purchase.')
    }
    if (await hasHadKey(book)) accounts.requireProofs(session, 'key.replace')
    const { keyId, plain } = await db.transaction((tx) => keys.issue(tx, book))
    const { pending } = await keys.find(book)
    if (pending?.keyId !== keyId) {
      throw new CabinetRefusal('key_pending_missing', 'Another tab made a key at the same moment.')
    }
    return { ...keyOf(pending), plain }
  }

  async function confirm(session: Session, id: string, address: string): Promise<void> {
    const { book } = session
    const isLater = await hasHadKey(book)
    const { active } = await keys.find(book)
    // Checked again: when this key was created, another tab's key may not have been confirmed yet.
    if (isLater && active?.keyId !== id) accounts.requireProofs(session, 'key.replace')
    const isReissue = active !== undefined && active.keyId !== id
    await changeAndEmail(session, address, async (tx) => {
      const { last4, isRepeat } = await keys.confirm(tx, book, id)
      return isRepeat ? undefined : { kind: isReissue ? 'key-reissued' : 'key-created', last4 }
    })
  }

  async function revoke(session: Session, address: string): Promise<void> {
    const { book } = session
    const last4 = (await keys.find(book)).active?.last4 ?? ''
    await changeAndEmail(session, address, async (tx) => {
      const { revoked } = await keys.revoke(tx, book)
      return revoked === undefined ? undefined : { kind: 'key-revoked', last4 }
    })
  }

  /** Makes the change and writes the e-mail about it in one transaction. */
  async function changeAndEmail(
    session: Session,
    address: string,
    change: (tx: Tx) => Promise<{ kind: KeyEmail['kind']; last4: string } | undefined>,
  ): Promise<void> {
    const browser = (await accounts.sessions(session)).find(({ isCurrent }) => isCurrent)
    const eventContext = { atMs: clock.nowMs(), address, device: browser?.device ?? '' }
    await db.transaction(async (tx) => {
      const done = await change(tx)
      if (done === undefined) return
      const { kind, last4 } = done
      await accounts.emailOwner(tx, session.book, { kind, facts: { ...eventContext, last4 } })
    })
  }

  /** True only for this account's active key; false for other accounts' keys, valid or not. */
  async function isCurrent(plain: string, book: BookId, address: string): Promise<boolean> {
    try {
      const caller = await keys.recheck(await keys.verify(plain, address))
      return caller.book === book
    } catch (error) {
      if (isRefusal(error, ...wrongKeyCodes)) return false
      throw error
    }
  }

  const routes: RouteTable<
    | 'GET /api/key'
    | 'POST /api/key'
    | 'POST /api/key/:id/confirm'
    | 'POST /api/key/verify'
    | 'POST /api/key/revoke'
  > = {
    'GET /api/key': { session: 'required', run: ({ session }) => stateOf(session.book) },
    'POST /api/key': {
      session: 'open',
      allowance: CREATE_ALLOWANCE,
      body: z.object({}),
      run: ({ session }) => createKey(session),
    },
    'POST /api/key/:id/confirm': {
      session: 'open',
      allowance: CONFIRM_ALLOWANCE,
      body: z.object({}),
      async run({ session, params, address }) {
        await confirm(session, params.id, address)
        return stateOf(session.book)
      },
    },
    'POST /api/key/verify': {
      session: 'required',
      allowance: VERIFY_ALLOWANCE,
      body: z.object({ plain: z.string().max(1_000) }),
      async run({ session, body, address }) {
        return { isCurrent: await isCurrent(body.plain.trim(), session.book, address) }
      },
    },
    'POST /api/key/revoke': {
      session: 'required',
      allowance: REVOKE_ALLOWANCE,
      body: z.object({}),
      async run({ session, address }) {
        await revoke(session, address)
        return stateOf(session.book)
      },
    },
  }

  return { routes, stateOf }
}

function keyOf({ keyId, last4, createdAt }: KeyView): contract.Key {
  return { id: keyId, last4, createdAt: timeOf(createdAt) }
}

function keyOrNull(key: KeyView | undefined): contract.Key | null {
  return key === undefined ? null : keyOf(key)
}
