// Fetches a payment from its provider and applies it, with those of its refunds that we do not know
// yet. Every trigger ends here, except an operator's decision.
import type { Log } from '../../platform/log.ts'
import type { Trigger } from '../order/order.ts'
import type { Answer, Provider, Snapshot } from '../port.ts'
import type { Refunds } from '../refunds/refunds.ts'
import type { Applied, Apply } from './apply.ts'

export function createReread(options: {
  readonly apply: Apply
  readonly refunds: Refunds
  readonly log: Log
}) {
  const { apply, refunds, log } = options

  async function applyWithRefunds(
    provider: Provider,
    snapshot: Snapshot,
    by: Trigger,
  ): Promise<Applied> {
    const applied = await apply.applySnapshot(snapshot, by)
    if (applied.hasUnknownRefunds && !(await refunds.sync(provider, snapshot.paymentId))) {
      log.warn({ payment: snapshot.paymentId }, 'refunds of a payment could not be read')
    }
    return applied
  }

  /** Fetches one payment and applies it. Returns the answer, so that the caller can retry. */
  async function reread(
    provider: Provider,
    paymentId: string,
    by: Trigger,
  ): Promise<Answer<Snapshot>> {
    const answer = await provider.fetchPayment(paymentId)
    if (answer.kind === 'ok') await applyWithRefunds(provider, answer.value, by)
    return answer
  }

  return { applyWithRefunds, reread }
}

export type Reread = ReturnType<typeof createReread>
