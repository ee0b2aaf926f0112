// The review after a password reset: the owner says which passkeys to remove, because a thief who
// had the account before may have added one. Until then no passkey counts. Keys belong to another
// module: the cabinet revokes the key in the same transaction.
import type { Tx } from '../../platform/db/db.ts'
import type { Dependencies } from '../dependencies.ts'
import type { EventContext } from '../emails/email-kinds.ts'
import * as accountQueries from '../queries.ts'
import { requireProofs, type Session } from '../sessions.ts'
import * as queries from './queries.ts'

export function createResetReview({ emails }: Pick<Dependencies, 'emails'>) {
  return {
    /**
     * Removes these passkeys, ends the other sessions and the review; false when none is due.
     * Refuses: session_missing, step_up_needed.
     */
    async finish(
      tx: Tx,
      session: Session,
      p: { readonly passkeys: readonly string[]; readonly eventContext: EventContext },
    ): Promise<boolean> {
      const { account, id } = requireProofs(session, 'reset.review')
      if (!(await queries.resetReviewed(tx, account))) return false
      const names = await queries.passkeysDelete(tx, { account, ids: p.passkeys })
      // Those who signed in with one of them.
      await accountQueries.sessionDeleteOthers(tx, { account, keep: id })
      for (const name of names) {
        const facts = { ...p.eventContext, name }
        await emails.post(tx, session, { kind: 'passkey-removed', facts })
      }
      return true
    },
  }
}
