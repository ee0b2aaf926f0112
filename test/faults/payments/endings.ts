// How what a sequence has begun comes to its end: requests under way, refunds that a person decides
// about, and the accounts themselves.
import type { Payments } from '../../../src/payments/payments.ts'
import type { BookId, OrderId } from '../../../src/platform/ids.ts'
import { isRefusal } from '../../../src/platform/refusal.ts'
import { micro } from '../../../src/units/credits.ts'
import type { Facts } from '../../support/payment-facts.ts'
import type { PaymentModel, StepKind } from '../../support/payment-model.ts'
import type { TestAccounts } from './closing.ts'

const HALF_DAY_MS = 13 * 3_600_000
/** Five refusals with their pauses, a decision, and as much again. */
const HALF_DAYS_MAX = 16

/** A request under way. */
type Running = {
  readonly book: string
  readonly held: bigint
  settle(used: bigint): Promise<void>
}

export type EndingOptions = {
  readonly books: readonly BookId[]
  readonly model: PaymentModel
  readonly accounts: TestAccounts
  sim(act: string, body: object): Promise<unknown>
  jump(ms: number): Promise<void>
  check(kind: StepKind): Promise<Facts>
  facts(): Facts
  payments(): Payments
  runJobs(): Promise<void>
}

export function createEndings(options: EndingOptions) {
  const { books, model, facts, payments } = options
  const requests: Running[] = []

  /** The oldest request ends: nothing, a half or all of what it held is charged. */
  async function endRequest(choice: number): Promise<void> {
    const request = requests.shift()
    if (request === undefined) return
    const used = [0n, request.held / 2n, request.held][choice % 3] as bigint
    await request.settle(used)
    model.book(request.book).spent += micro(used * 1_000_000n)
  }

  /** A person decides about the oldest refund that a closing has held back; false: none. */
  async function decideOne(decision: 'refund' | 'dismiss'): Promise<boolean> {
    const own = new Map(facts().orders.map(({ id, book }) => [id, book]))
    const queue = await payments().reviewQueue()
    const review = queue.find(
      ({ order, reason }) => reason.startsWith('closing ') && order !== null && own.has(order),
    )
    if (review === undefined) return false
    const by = { by: 'operator', note: 'decided' }
    await payments().resolveReview({ id: review.id, decision, ...by })
    const book = own.get(review.order ?? '')
    if (decision === 'dismiss' && book) model.book(book).hasAgreedToLose = true
    return true
  }

  /** The banks have decided; a dispute whose money went back meanwhile can only be lost. */
  async function endDisputes(): Promise<void> {
    for (const { order, state } of facts().disputes) {
      if (state !== 'opened') continue
      const what = { order: order as OrderId, by: 'operator', note: '' }
      await payments()
        .dispute({ ...what, act: 'won' })
        .catch((error: unknown) => {
          if (!isRefusal(error, 'order_state_wrong')) throw error
          return payments().dispute({ ...what, act: 'lost' })
        })
    }
  }

  return {
    requests,
    endRequest,
    decideOne,

    async endRequests(): Promise<void> {
      while (requests.length > 0) await endRequest(requests.length)
    },

    /** Begins to close the accounts that still stay. */
    async closeAll(): Promise<void> {
      for (const id of books) {
        const book = model.book(String(id))
        if (book.isClosing) continue
        await options.accounts.begin(payments(), id, 'refund')
        book.isClosing = true
        book.mandate = undefined
      }
    },

    /** Payers who have not paid will not; time passes until both accounts are closed. */
    async awaitClosed(): Promise<void> {
      for (const { id } of facts().orders.filter((one) => !one.isCredited)) {
        await options.sim('expire', { orderId: id }).catch(() => undefined)
      }
      for (let i = 0; i < HALF_DAYS_MAX; i++) {
        await options.jump(HALF_DAY_MS)
        await options.runJobs()
        await options.check('concurrent')
        if (facts().books.every(({ step }) => step === 'closed')) break
        await endDisputes()
        while (await decideOne('refund'));
      }
      model.checkClosed(facts())
    },
  }
}
