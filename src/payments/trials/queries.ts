// The SQL of trials. The function trials_grant decides and writes; nothing else does.
import type { Executor, Tx } from '../../platform/db/db.ts'
import type { BookId } from '../../platform/ids.ts'
import type { Credits } from '../../units/credits.ts'

/** Why a new account got a trial, or none. */
type TrialOutcome = 'granted' | 'not_new' | 'address_used' | 'network_exhausted' | 'day_exhausted'

/** Locks the day's row, and the ledger's book last. */
export async function trialGrant(
  tx: Tx,
  p: {
    readonly book: BookId
    readonly addressDigest: Buffer
    readonly networkDigest: Buffer
    readonly credits: Credits
    readonly perNetworkDay: number
    readonly creditsPerDay: Credits
  },
): Promise<TrialOutcome> {
  const { rows } = await tx.query('select outcome from trials_grant($1, $2, $3, $4, $5, $6)', [
    ...[p.book, p.addressDigest, p.networkDigest, p.credits, p.perNetworkDay, p.creditsPerDay],
  ])
  return (rows[0] as { outcome: TrialOutcome }).outcome
}

export type Trial = { readonly credits: Credits; readonly grantedAt: Date }

/** Reads without a lock. */
export async function trialFind(db: Executor, book: BookId): Promise<Trial | undefined> {
  const { rows } = await db.query(
    'select credits, granted_at as "grantedAt" from trials where book_id = $1',
    [book],
  )
  return rows[0] as Trial | undefined
}

/** Deletes the counts of networks of days before yesterday. */
export async function trialNetworksForget(db: Executor): Promise<void> {
  await db.query(
    `delete from trial_networks where day < (ledger_now() at time zone 'UTC')::date - 1`,
  )
}
