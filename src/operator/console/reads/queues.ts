// What waits for a person: payments that differ from their orders, open disputes, charges that the
// database refused, e-mails that the relay refused.

import { requestIdOf } from '../../../platform/ids.ts'
import type { OperatorModules } from '../../desk/modules.ts'
import type * as contract from '../contract/contract.ts'
import { creditsOf, timeOf } from './amounts.ts'

/** A page for a person, not a dump: if more wait, something is broken as a whole. */
const SHOWN_MAX = 100

export async function readQueues({
  payments,
  ledger,
  mail,
}: Pick<OperatorModules, 'payments' | 'ledger' | 'mail'>): Promise<contract.Queues> {
  const [reviews, disputes, quarantine, letters] = await Promise.all([
    payments.reviewQueue(),
    payments.disputes(),
    ledger.quarantine.list({ limit: SHOWN_MAX, hold: null }),
    mail.listFailed(SHOWN_MAX),
  ])
  return {
    reviews: reviews.slice(0, SHOWN_MAX).map((one) => ({
      ...{ id: String(one.id), order: one.order, reason: one.reason, detail: one.detail },
      ...{ hasMoney: one.hasMoney, openedAt: timeOf(one.openedAt) },
      amountKopecks: one.amount === null ? null : String(one.amount),
    })),
    disputes: disputes
      .filter(({ state }) => state === 'opened')
      .slice(0, SHOWN_MAX)
      .map(({ id, order, amount, reserved, openedAt }) => ({
        ...{ id, order, amountKopecks: String(amount) },
        ...{ reserved: creditsOf(reserved), openedAt: timeOf(openedAt) },
      })),
    quarantine: quarantine.map(({ hold, reason, priced }) => ({
      ...{ request: requestIdOf(hold), reason, priced: creditsOf(priced) },
    })),
    letters: letters.map(({ kind, recipient, state, attempts, error, postedAt }) => ({
      ...{ kind, recipient, state, attempts, error, postedAt: timeOf(postedAt) },
    })),
  }
}
