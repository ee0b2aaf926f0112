// Brings what a provider says now into our books: the payment, and its refunds when there are any
// that we do not know of. The four triggers all end here, so there is one way to be right.
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

  async function bring(provider: Provider, snapshot: Snapshot, by: Trigger): Promise<Applied> {
    const applied = await apply.applySnapshot(snapshot, by)
    if (applied.hasStrangeRefunds && !(await refunds.sync(provider, snapshot.paymentId))) {
      log.warn({ payment: snapshot.paymentId }, 'refunds of a payment could not be read')
    }
    return applied
  }

  /** Asks about one payment. What the provider said, for whoever must decide about asking again. */
  async function reread(
    provider: Provider,
    paymentId: string,
    by: Trigger,
  ): Promise<Answer<Snapshot>> {
    const answer = await provider.fetchPayment(paymentId)
    if (answer.kind === 'ok') await bring(provider, answer.value, by)
    return answer
  }

  return { bring, reread }
}

export type Reread = ReturnType<typeof createReread>
