// The YooKassa adapter: card and SBP by the provider's own page. It asks over HTTP and reports
// snapshots; it never decides. Nothing here knows whether the other side is the provider or its
// stand-in: only the address differs.
import { assert } from '../../platform/assert.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Masked } from '../../platform/masked.ts'
import { type Kopecks, kopecks } from '../../units/kopecks.ts'
import type { Answer, Provider, Snapshot } from '../port.ts'
import { createCalls } from './calls.ts'
import { paymentBody, type ReceiptSettings, refundBody } from './drafts.ts'
import { createLimiter } from './limiter.ts'
import { createNoticeReader } from './notices.ts'
import { PROVIDER, pageOf, paymentOf, refundOf } from './objects.ts'

export type YookassaOptions = {
  readonly url: string
  readonly shopId: string
  readonly secretKey: Masked<string>
  readonly postTimeoutMs: number
  readonly getTimeoutMs: number
  readonly callsPerSecond: number
  /** SBP as a QR code that we draw ourselves, for shops that have it. */
  readonly hasSbpQr: boolean
  readonly notificationSources: string
  readonly receipt: ReceiptSettings | null
  /** Written into the payment's metadata, for whoever shares the shop. */
  readonly env: string
  readonly clock: Clock
  readonly onCall?: (call: string, kind: Answer<unknown>['kind']) => void
}

/** Rubles per payment, as the provider publishes them. */
const CARD = { min: kopecks(1_00), max: kopecks(350_000_00) }
const SBP = { min: kopecks(1_00), max: kopecks(700_000_00) }
const PAGE = 100
/** A hundred thousand payments; a list that goes on longer is one that goes in a circle. */
const PAGES_MAX = 1_000

export function createYookassa(options: YookassaOptions): Provider {
  // An empty credential must never be one that matches.
  assert(
    options.shopId !== '' && options.secretKey.reveal() !== '',
    'the shop has a number and key',
  )
  const calls = createCalls({
    ...options,
    limiter: createLimiter({ perSecond: options.callsPerSecond, clock: options.clock }),
    onEnd: options.onCall ?? (() => undefined),
  })

  async function read<T>(
    answer: Answer<unknown> | Promise<Answer<unknown>>,
    itemOf: (value: unknown) => T | undefined,
  ): Promise<Answer<T>> {
    const found = await answer
    if (found.kind !== 'ok') return found
    const value = itemOf(found.value)
    return value === undefined ? { kind: 'unknown', why: 'unreadable' } : { kind: 'ok', value }
  }

  function list<T>(
    name: string,
    path: string,
    query: Readonly<Record<string, string | null>>,
    itemOf: (value: unknown) => T | undefined,
  ) {
    const search = new URLSearchParams({ limit: String(PAGE) })
    for (const [key, value] of Object.entries(query)) if (value !== null) search.set(key, value)
    return read(calls.get(name, `${path}?${search}`), (value) => pageOf(value, itemOf))
  }

  /**
   * Page by page until the order turns up. There is no filter on metadata. A payment that cannot be
   * read hides no other; but it may be the one, so without another the outcome is unknown.
   */
  async function findByOrder(order: string, from: Date, to: Date): Promise<Answer<Snapshot>> {
    const span = { 'created_at.gte': from.toISOString(), 'created_at.lte': to.toISOString() }
    let cursor: string | null = null
    let isWhole = true
    for (let pages = 0; pages < PAGES_MAX; pages++) {
      const page: Awaited<ReturnType<typeof list<Snapshot | null>>> = await list(
        'find',
        '/payments',
        { ...span, cursor },
        (value) => paymentOf(value) ?? null,
      )
      if (page.kind !== 'ok') return page.kind === 'absent' ? unreadable : page
      const { items } = page.value
      const found = items.find((one) => one?.orderRef === order)
      if (found) return { kind: 'ok', value: found }
      isWhole &&= !items.includes(null)
      cursor = page.value.next
      if (cursor === null) return isWhole ? { kind: 'absent' } : unreadable
    }
    return unreadable
  }

  return {
    name: PROVIDER,
    shopRef: options.shopId,
    capabilities: () => ({
      methods: { card: CARD, sbp: SBP } satisfies Record<string, { min: Kopecks; max: Kopecks }>,
      hasSettledList: true,
      payerTermSeconds: 3_600,
      // A key means one payment for 24 hours; an hour of it is left for slow clocks and lines.
      keySeconds: 23 * 3_600,
    }),

    draftPayment: (draft) => ({
      body: paymentBody(draft, {
        env: options.env,
        isQr: options.hasSbpQr,
        receipt: options.receipt,
      }),
      receipt: options.receipt,
    }),
    async createPayment(key, body, mayLeave = async () => true) {
      const answer = await calls.postIf(mayLeave, 'create', '/payments', { key, body })
      return answer.kind === 'withheld' ? answer : read(answer, paymentOf)
    },
    fetchPayment: (paymentId) =>
      read(calls.get('fetch', `/payments/${encodeURIComponent(paymentId)}`), (value) => {
        const snapshot = paymentOf(value)
        return snapshot?.paymentId === paymentId ? snapshot : undefined
      }),
    findByOrder,
    listSettled: (since, cursor) =>
      list(
        'list',
        '/payments',
        { status: 'succeeded', 'captured_at.gte': since.toISOString(), cursor },
        paymentOf,
      ),

    draftRefund: refundBody,
    createRefund: (key, body) => read(calls.post('refund', '/refunds', key, body), refundOf),
    fetchRefund: (refundId) =>
      read(calls.get('refund-fetch', `/refunds/${encodeURIComponent(refundId)}`), (value) => {
        const snapshot = refundOf(value)
        return snapshot?.refundId === refundId ? snapshot : undefined
      }),
    listRefunds: (of, cursor) =>
      list(
        'refund-list',
        '/refunds',
        'paymentId' in of
          ? { payment_id: of.paymentId, cursor }
          : { status: 'succeeded', 'created_at.gte': of.since.toISOString(), cursor },
        refundOf,
      ),

    parseNotification: createNoticeReader(options.notificationSources),
    acknowledgement: { status: 200, body: '' },
    close: () => calls.close(),
  }
}

const unreadable = { kind: 'unknown', why: 'unreadable' } as const
