// The owner's API key: made on a click after the first purchase, shown once, confirmed by the
// browser that kept it. The plain value is in one answer and in no log, letter or table; a pasted
// one is compared and forgotten. What a key is and when it stops is the keys room's affair.
import { z } from 'zod'
import type { Accounts, KeyNotice, Session } from '../../accounts/accounts.ts'
import type { Keys, KeyView } from '../../keys/keys.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { Payments } from '../../payments/payments.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Db, Tx } from '../../platform/db/db.ts'
import type { BookId } from '../../platform/ids.ts'
import { isRefusal } from '../../platform/refusal.ts'
import { OwnNo } from '../answers.ts'
import type * as contract from '../contract/contract.ts'
import { timeOf, timeOrNull } from './amounts.ts'
import type { Table } from './routes.ts'
import { latestRequests } from './usage/requests.ts'

export type KeyOptions = {
  readonly db: Db
  readonly clock: Clock
  readonly keys: Keys
  readonly ledger: Pick<Ledger, 'usage' | 'balance'>
  readonly payments: Pick<Payments, 'hasPurchased'>
  readonly accounts: Pick<Accounts, 'tell' | 'requireFresh' | 'sessions'>
}

/** Each costs an Argon2id; who clicks more often than this has a program click. */
const MAKING = { max: 10, seconds: 600 }
const CONFIRMING = { max: 30, seconds: 600 }
/** Somebody who looks for the right one among a few old ones; guessing 256 bits is hopeless. */
const VERIFYING = { max: 10, seconds: 60 }
const REVOKING = { max: 10, seconds: 600 }

export function createKeyRoutes(options: KeyOptions) {
  const { db, clock, keys, ledger, payments, accounts } = options

  async function stateOf(book: BookId): Promise<contract.KeyState> {
    const { active, pending } = await keys.find(book)
    if (active === undefined) {
      const isOpen = await payments.hasPurchased(book)
      return { state: isOpen ? 'none' : 'locked', active: null, pending: shown(pending) }
    }
    const [latest] = await latestRequests(ledger.usage, book)
    // Before the key, the requests were made with another one.
    const isIts = latest !== undefined && latest.at >= active.createdAt
    const lastUsedAt = timeOrNull(isIts ? latest.at : null)
    return { state: 'active', active: { ...keyOf(active), lastUsedAt }, pending: shown(pending) }
  }

  /**
   * Every key after the first wants a fresh session, also when the one before is revoked: revoking
   * works in any session, so a stolen cookie could otherwise revoke the key and make another one.
   * The book's fence is 0 until its first key comes into force.
   */
  async function hasHadKey(book: BookId): Promise<boolean> {
    const balance = await ledger.balance(book)
    return balance !== undefined && balance.fence > 0n
  }

  async function make(session: Session): Promise<contract.NewKey> {
    const { book } = session
    const { active } = await keys.find(book)
    if (active === undefined && !(await payments.hasPurchased(book))) {
      throw new OwnNo('purchase_missing', 'A key can be made after the first purchase.')
    }
    if (await hasHadKey(book)) accounts.requireFresh(session)
    const { keyId, plain } = await db.transaction((tx) => keys.issue(tx, book))
    const { pending } = await keys.find(book)
    if (pending?.keyId !== keyId) {
      throw new OwnNo('key_pending_missing', 'Another tab made a key at the same moment.')
    }
    return { ...keyOf(pending), plain }
  }

  async function confirm(session: Session, id: string, address: string): Promise<void> {
    const { book } = session
    const isLater = await hasHadKey(book)
    const { active } = await keys.find(book)
    // Asked again: when this key was made, another tab's may not have been in force yet.
    if (isLater && active?.keyId !== id) accounts.requireFresh(session)
    const isReissue = active !== undefined && active.keyId !== id
    await told(session, address, async (tx) => {
      const { last4, isRepeat } = await keys.confirm(tx, book, id)
      return isRepeat ? undefined : { kind: isReissue ? 'key-reissued' : 'key-created', last4 }
    })
  }

  async function revoke(session: Session, address: string): Promise<void> {
    const { book } = session
    const last4 = (await keys.find(book)).active?.last4 ?? ''
    await told(session, address, async (tx) => {
      const { revoked } = await keys.revoke(tx, book)
      return revoked === undefined ? undefined : { kind: 'key-revoked', last4 }
    })
  }

  /** The deed and the letter about it, or neither. */
  async function told(
    session: Session,
    address: string,
    deed: (tx: Tx) => Promise<{ kind: KeyNotice['kind']; last4: string } | undefined>,
  ): Promise<void> {
    const browser = (await accounts.sessions(session)).find(({ isCurrent }) => isCurrent)
    const circumstances = { atMs: clock.nowMs(), address, device: browser?.device ?? '' }
    await db.transaction(async (tx) => {
      const done = await deed(tx)
      if (done === undefined) return
      const { kind, last4 } = done
      await accounts.tell(tx, session.book, { kind, facts: { ...circumstances, last4 } })
    })
  }

  /** True for the key in force of this very account; of anybody else's key nothing is said. */
  async function isCurrent(plain: string, book: BookId, address: string): Promise<boolean> {
    try {
      const caller = await keys.fresh(await keys.verify(plain, address))
      return caller.book === book
    } catch (error) {
      const isWrong = (['key_malformed', 'key_unknown', 'key_revoked'] as const).some((code) =>
        isRefusal(error, code),
      )
      if (isWrong) return false
      throw error
    }
  }

  const routes: Table<
    | 'GET /api/key'
    | 'POST /api/key'
    | 'POST /api/key/:id/confirm'
    | 'POST /api/key/verify'
    | 'POST /api/key/revoke'
  > = {
    'GET /api/key': { session: 'needed', run: ({ session }) => stateOf(session.book) },
    'POST /api/key': {
      session: 'needed',
      allowance: MAKING,
      body: z.object({}),
      run: ({ session }) => make(session),
    },
    'POST /api/key/:id/confirm': {
      session: 'needed',
      allowance: CONFIRMING,
      body: z.object({}),
      async run({ session, params, address }) {
        await confirm(session, params.id, address)
        return stateOf(session.book)
      },
    },
    'POST /api/key/verify': {
      session: 'needed',
      allowance: VERIFYING,
      body: z.object({ plain: z.string().max(1_000) }),
      async run({ session, body, address }) {
        return { isCurrent: await isCurrent(body.plain.trim(), session.book, address) }
      },
    },
    'POST /api/key/revoke': {
      session: 'needed',
      allowance: REVOKING,
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

function shown(key: KeyView | undefined): contract.Key | null {
  return key === undefined ? null : keyOf(key)
}
