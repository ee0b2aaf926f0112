// Sends notices to the shop's address with the chosen source address, repeats them with growing
// pauses until the answer is 200 or a day has passed, and records each attempt with its answer.
import type { Clock } from './clock.ts'
import { createModes, eventModes, forgedSuccess, type Notice, planOf } from './notices.ts'
import type { Payment } from './objects.ts'
import { createPost, type Posted } from './post.ts'
import { createRing } from './ring.ts'
import type { Announcement, Store } from './store.ts'

export type Delivery = Notice & {
  sequence: number
  attempt: number
  url: string
  source: string
  /** When it was sent, by the provider's clock. */
  at: string
  /** Real time until the answer. */
  tookMs: number
  /** Null when no answer came; the error says why. */
  status: number | null
  answer: string
  error: string | null
  outcome: 'accepted' | 'refused' | 'failed' | 'dropped'
  /** The next attempt; null when there is none. */
  nextAt: string | null
}

const droppedWord = 'dropped on order'

// The provider repeats for a day and does not publish its pauses. Doubling from ten seconds gives
// fourteen attempts, the last one after 22.8 hours.
const giveUpMs = 24 * 3_600_000
const firstPauseMs = 10_000
const deliveriesMax = 100_000

type Try = { notice: Notice; source: string; attempt: number; bornMs: number }

const dropped: Posted = { status: null, answer: '', error: droppedWord, tookMs: 0 }

export function createWebhooks({ store, clock }: { store: Store; clock: Clock }) {
  const { settings } = store
  const modes = createModes()
  const deliveries = createRing<Delivery>(deliveriesMax)
  const post = createPost()
  const early = new Map<string, Promise<void>>()
  let sequence = 0
  // A reset drops notices in flight: an answer that arrives later must not schedule a repeat.
  let epoch = 0

  function keep({ notice, attempt, source }: Try, result: Posted, nextMs: number | null): void {
    sequence += 1
    deliveries.add({
      ...notice,
      sequence,
      attempt,
      url: settings.webhookUrl ?? '',
      source,
      at: new Date(clock.now()).toISOString(),
      ...result,
      outcome: outcomeOf(result),
      nextAt: nextMs === null ? null : new Date(nextMs).toISOString(),
    })
  }

  async function send(one: Try): Promise<void> {
    const url = settings.webhookUrl
    if (url === null) return
    const bornIn = epoch
    const result = await post(url, one.notice.body, {
      timeoutMs: settings.webhookTimeoutMs,
      headers: { [settings.webhookSourceHeader]: one.source },
    })
    if (bornIn !== epoch) return
    const nextMs = clock.now() + firstPauseMs * 2 ** (one.attempt - 1)
    const isOver = result.status === 200 || nextMs > one.bornMs + giveUpMs
    keep(one, result, isOver ? null : nextMs)
    if (!isOver) clock.at(nextMs, () => send({ ...one, attempt: one.attempt + 1 }))
  }

  function first(notice: Notice, source = settings.webhookSource): Try {
    return { notice, source, attempt: 1, bornMs: clock.now() }
  }

  async function sendGroups(groups: readonly Try[][]): Promise<void> {
    for (const group of groups) await Promise.all(group.map(send))
  }

  function announce(news: Announcement): void {
    if (settings.webhookUrl === null) return
    const mode = modes.take(news.payment, news.event, eventModes)
    const plan = planOf(news, mode, store)
    const groups = plan.groups.map((group) => group.map((notice) => first(notice)))
    for (const notice of plan.dropped) keep(first(notice), dropped, null)
    if (mode.mode !== 'early') {
      clock.at(clock.now() + plan.delayMs, () => sendGroups(groups))
      return
    }
    const sent = sendGroups(groups)
    early.set(news.payment.id, sent)
    // Callers that wait for the clock wait for this too.
    clock.at(clock.now(), () => sent)
    void sent.then(() => {
      if (early.get(news.payment.id) === sent) early.delete(news.payment.id)
    })
  }

  store.listen(announce)

  return {
    modes,

    /** Sends a false notice; repeated like any other. */
    tell: (notice: Notice, source?: string): Promise<void> => send(first(notice, source)),

    /** Resolves once the early notices about the payment were answered. */
    whenEarly: (paymentId: string): Promise<void> => early.get(paymentId) ?? Promise.resolve(),

    /**
     * Called for a new payment; returns whether it must be paid before the shop gets its answer.
     */
    born(payment: Payment): boolean {
      const event = 'payment.succeeded'
      if (modes.take(payment, event, ['forged']).mode === 'forged') {
        clock.at(clock.now(), () => send(first(forgedSuccess(payment, store))))
      }
      return modes.next(payment, event, eventModes) === 'early'
    },

    /** The newest attempts that satisfy the check, oldest first. */
    deliveries: deliveries.last,
    count: () => deliveries.size,

    clear(): void {
      epoch += 1
      modes.clear()
      deliveries.clear()
      early.clear()
    },
    close: post.close,
  }
}

export type Webhooks = ReturnType<typeof createWebhooks>

function outcomeOf({ status, error }: Posted): Delivery['outcome'] {
  if (error === droppedWord) return 'dropped'
  if (status === null) return 'failed'
  return status === 200 ? 'accepted' : 'refused'
}
