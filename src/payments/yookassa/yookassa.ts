// The YooKassa adapter: card and SBP payments on the provider's page. It calls the HTTP API and
// returns snapshots; it decides nothing. The stand-in used in tests differs only by its URL.
import { assert } from '../../platform/assert.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Masked } from '../../platform/masked.ts'
import { type Kopecks, kopecks } from '../../units/kopecks.ts'
import type { Answer, Page, Period, Provider, Snapshot } from '../port.ts'
import { createCalls } from './calls.ts'
import {
  isRefundDraftOf,
  paymentBody,
  type ReceiptSettings,
  receiptBody,
  refundBody,
  savedMethodOf,
} from './drafts.ts'
import { createLimiter, type Limiter } from './limiter.ts'
import { createNotificationParser } from './notifications.ts'
import { PROVIDER, pageOf, paymentOf, refundOf } from './objects.ts'
import { receiptOf } from './receipt-objects.ts'

export type YookassaOptions = {
  readonly url: string
  readonly shopId: string
  readonly secretKey: Masked<string>
  readonly postTimeoutMs: number
  readonly getTimeoutMs: number
  readonly callsPerSecond: number
  /** SBP by a QR code that our page shows, for shops where the provider has enabled it. */
  readonly hasSbpQr: boolean
  readonly notificationSources: string
  readonly receipt: ReceiptSettings | null
  /** Written into the payment's metadata, because several deployments may share a shop. */
  readonly env: string
  readonly clock: Clock
  /** Shared by the shops of one process; absent: a limiter of its own. */
  readonly limiter?: Limiter
  readonly onCall?: (call: string, kind: Answer<unknown>['kind']) => void
}

/** Rubles per payment, as the provider publishes them. */
const CARD = { min: kopecks(1_00), max: kopecks(350_000_00) }
const SBP = { min: kopecks(1_00), max: kopecks(700_000_00) }
const PAGE = 100
/** A hundred thousand payments; a longer list goes in circles. */
const PAGES_MAX = 1_000

function limiterOf({ callsPerSecond: perSecond, clock }: YookassaOptions): Limiter {
  return createLimiter({ perSecond, clock })
}

/**
 * The current shop and then earlier ones, each with its own credentials. They share the limit of
 * calls, because the provider may count them by our address.
 */
export function createYookassaShops(
  options: YookassaOptions,
  earlier: readonly Pick<YookassaOptions, 'shopId' | 'secretKey'>[],
): Provider[] {
  const limiter = limiterOf(options)
  return [options, ...earlier].map((shop) => createYookassa({ ...options, ...shop, limiter }))
}

export function createYookassa(options: YookassaOptions): Provider {
  // An empty shop id would match a snapshot without one.
  assert(
    options.shopId !== '' && options.secretKey.reveal() !== '',
    'the shop has a number and key',
  )
  const calls = createCalls({
    ...options,
    limiter: options.limiter ?? limiterOf(options),
    onEnd: options.onCall ?? (() => undefined),
  })

  async function parseAnswer<T>(
    answer: Answer<unknown> | Promise<Answer<unknown>>,
    itemOf: (value: unknown) => T | undefined,
  ): Promise<Answer<T>> {
    const found = await answer
    if (found.kind !== 'ok') return found
    const value = itemOf(found.value)
    return value === undefined ? { kind: 'unknown', why: 'unreadable' } : { kind: 'ok', value }
  }

  function listPage<T>(
    name: string,
    path: string,
    query: Readonly<Record<string, string | null>>,
    itemOf: (value: unknown) => T | undefined,
  ) {
    const search = new URLSearchParams({ limit: String(PAGE) })
    for (const [key, value] of Object.entries(query)) if (value !== null) search.set(key, value)
    return parseAnswer(calls.get(name, `${path}?${search}`), (value) => pageOf(value, itemOf))
  }

  /**
   * Reads page by page until the order is found, because the API has no filter on metadata. An
   * unreadable payment is skipped; but it may be the order's, so if the order is not found
   * elsewhere, the outcome is unknown.
   */
  async function findByOrder(order: string, from: Date, to: Date): Promise<Answer<Snapshot>> {
    const around = { 'created_at.gte': from.toISOString(), 'created_at.lte': to.toISOString() }
    let cursor: string | null = null
    let isWhole = true
    for (let pages = 0; pages < PAGES_MAX; pages++) {
      const page: Answer<Page<Snapshot>> = await listPage(
        'find',
        '/payments',
        { ...around, cursor },
        paymentOf,
      )
      if (page.kind !== 'ok') return page.kind === 'absent' ? unreadable : page
      const { items, unreadable: others } = page.value
      const found = items.find((one) => one.orderRef === order)
      if (found !== undefined) return { kind: 'ok', value: found }
      isWhole &&= others.length === 0
      cursor = page.value.next
      if (cursor === null) return isWhole ? { kind: 'absent' } : unreadable
    }
    return unreadable
  }

  function receiptCalls() {
    type Receipts = 'draftReceipt' | 'createReceipt' | 'fetchReceipt' | 'listReceipts'
    return {
      draftReceipt: receiptBody,
      createReceipt: (key, body) =>
        parseAnswer(calls.post('receipt', '/receipts', key, body), receiptOf),
      fetchReceipt: (receiptId) =>
        parseAnswer(
          calls.get('receipt-fetch', `/receipts/${encodeURIComponent(receiptId)}`),
          (value) => {
            const snapshot = receiptOf(value)
            return snapshot?.receiptId === receiptId ? snapshot : undefined
          },
        ),
      listReceipts(of, cursor) {
        const query = 'paymentId' in of ? { payment_id: of.paymentId } : { refund_id: of.refundId }
        return listPage('receipt-list', '/receipts', { ...query, cursor }, receiptOf)
      },
    } satisfies Pick<Provider, Receipts>
  }

  return {
    ...{ name: PROVIDER, shopRef: options.shopId, savedMethodOf },
    capabilities: () => ({
      methods: { card: CARD, sbp: SBP } satisfies Record<string, { min: Kopecks; max: Kopecks }>,
      hasSettledList: true,
      payerTermSeconds: 3_600,
      // The provider remembers a key for 24 hours; one hour is left for clock differences.
      idempotencyKeySeconds: 23 * 3_600,
    }),

    draftPayment: (draft) => ({
      body: paymentBody(draft, {
        env: options.env,
        hasSbpQr: options.hasSbpQr,
        receipt: options.receipt,
      }),
      receipt: options.receipt,
    }),
    async createPayment(key, body, confirmSend = async () => true) {
      const answer = await calls.postIfConfirmed(confirmSend, 'create', '/payments', { key, body })
      return answer.kind === 'withheld' ? answer : parseAnswer(answer, paymentOf)
    },
    fetchPayment: (paymentId) =>
      parseAnswer(calls.get('fetch', `/payments/${encodeURIComponent(paymentId)}`), (value) => {
        const snapshot = paymentOf(value)
        return snapshot?.paymentId === paymentId ? snapshot : undefined
      }),
    findByOrder,
    listSettled: (period, cursor) =>
      listPage(
        'list',
        '/payments',
        { status: 'succeeded', ...span('captured_at', period), cursor },
        paymentOf,
      ),

    ...{ draftRefund: refundBody, isRefundDraftOf },
    createRefund: (key, body) => parseAnswer(calls.post('refund', '/refunds', key, body), refundOf),
    fetchRefund: (refundId) =>
      parseAnswer(
        calls.get('refund-fetch', `/refunds/${encodeURIComponent(refundId)}`),
        (value) => {
          const snapshot = refundOf(value)
          return snapshot?.refundId === refundId ? snapshot : undefined
        },
      ),
    listRefunds: (of, cursor) =>
      listPage(
        'refund-list',
        '/refunds',
        'paymentId' in of
          ? { payment_id: of.paymentId, cursor }
          : { status: 'succeeded', ...span('created_at', of), cursor },
        refundOf,
      ),

    ...receiptCalls(),

    parseNotification: createNotificationParser(options.notificationSources),
    acknowledgement: { status: 200, body: '' },
    close: () => calls.close(),
  }
}

const unreadable = { kind: 'unknown', why: 'unreadable' } as const

function span(member: string, { since, until }: Period): Record<string, string> {
  const from = { [`${member}.gte`]: since.toISOString() }
  return until === undefined ? from : { ...from, [`${member}.lt`]: until.toISOString() }
}
