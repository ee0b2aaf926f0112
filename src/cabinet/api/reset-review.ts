// The review after a password reset: the passkeys and the API key with the days they were made, and
// which of them the owner drops. Until the review passkeys do not count; the key keeps working, so
// that an owner who only forgot the password loses no requests.
import { z } from 'zod'
import type { Accounts, Session } from '../../accounts/accounts.ts'
import type { Keys } from '../../keys/keys.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Db } from '../../platform/db/db.ts'
import type * as contract from '../contract/contract.ts'
import { CabinetRefusal } from '../refusals.ts'
import { timeOf, timeOrNull } from './amounts.ts'
import type { RouteTable } from './routes.ts'

export type ResetReviewOptions = {
  readonly db: Db
  readonly clock: Clock
  readonly accounts: Pick<Accounts, 'passkeys' | 'finishReview' | 'emailOwner' | 'sessions'>
  readonly keys: Pick<Keys, 'find' | 'revoke'>
}

/** An owner has a handful of passkeys; a browser sends no more than it was shown. */
const IDS_MAX = 100
/** A reset has one review; repeated clicks are refused without an effect. */
const REVIEW_ALLOWANCE = { max: 20, seconds: 3_600 }

const ids = z.array(z.string().max(64)).max(IDS_MAX)

export function resetReviewRoutes({
  db,
  clock,
  accounts,
  keys,
}: ResetReviewOptions): RouteTable<'GET /api/reset-review' | 'POST /api/reset-review'> {
  async function read(session: Session): Promise<contract.ResetReview> {
    const [passkeys, { active }] = await Promise.all([
      accounts.passkeys(session),
      keys.find(session.book),
    ])
    return {
      resetAt: timeOrNull(session.unreviewedResetAt),
      passkeys: passkeys.map(({ id, name, createdAt }) => ({
        id,
        name,
        createdAt: timeOf(createdAt),
      })),
      keys:
        active === undefined
          ? []
          : [{ id: active.keyId, last4: active.last4, createdAt: timeOf(active.createdAt) }],
    }
  }

  async function finish(
    session: Session,
    dropped: { readonly passkeys: readonly string[]; readonly keys: readonly string[] },
    address: string,
  ): Promise<void> {
    const { book } = session
    const browser = (await accounts.sessions(session)).find(({ isCurrent }) => isCurrent)
    const eventContext = { atMs: clock.nowMs(), address, device: browser?.device ?? '' }
    const { active } = await keys.find(book)
    const dropsKey = active !== undefined && dropped.keys.includes(active.keyId)
    const isDone = await db.transaction(async (tx) => {
      const { passkeys } = dropped
      if (!(await accounts.finishReview(tx, session, { passkeys, eventContext }))) return false
      if (!dropsKey) return true
      const { revoked } = await keys.revoke(tx, book)
      const facts = { ...eventContext, last4: active.last4 }
      if (revoked !== undefined) await accounts.emailOwner(tx, book, { kind: 'key-revoked', facts })
      return true
    })
    if (!isDone) throw new CabinetRefusal('review_not_due', 'There is nothing to review.')
  }

  return {
    'GET /api/reset-review': { session: 'required', run: ({ session }) => read(session) },
    'POST /api/reset-review': {
      session: 'required',
      action: 'reset.review',
      allowance: REVIEW_ALLOWANCE,
      body: z.object({ passkeys: ids, keys: ids }),
      async run({ session, body, address }) {
        await finish(session, body, address)
        return read({ ...session, unreviewedResetAt: null })
      },
    },
  }
}
