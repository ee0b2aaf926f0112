// op find: finds what an id, an e-mail address or a part of one belongs to, and shows the
// customer's overview. It asks every module; if the results belong to several customers, it lists
// them.
import type { FoundAccount } from '../../accounts/accounts.ts'
import type { FoundKey } from '../../keys/keys.ts'
import type { RequestFacts } from '../../ledger/ledger.ts'
import type { FoundPurchase } from '../../payments/payments.ts'
import { type BookId, holdIdOf, requestIdOf } from '../../platform/ids.ts'
import { creditsText } from '../../units/credits.ts'
import { rublesText } from '../../units/kopecks.ts'
import { formatCredits, formatMinute, formatRubles, formatTime } from '../desk/amounts.ts'
import { commandError, EXIT_DONE } from '../desk/command-error.ts'
import { customerOfBook, isBookNumber, keyEnd, unknownCustomer } from '../desk/customer.ts'
import type { Desk } from '../desk/desk.ts'
import { suggestion } from '../desk/nearest.ts'
import { idHint } from '../desk/order.ts'
import { cardOf, tableOf } from '../desk/table.ts'
import { disputeJson, disputeLines } from '../money/disputes.ts'
import { reviewJson, reviewLines } from '../money/reviews.ts'
import { findWaiting } from '../registrations/find-waiting.ts'
import { registrationLines } from '../registrations/registrations.ts'
import { customerOverview, refundJson, section } from './overview.ts'

type HitKind =
  | 'account'
  | 'book'
  | 'key'
  | 'order'
  | 'review'
  | 'request'
  | 'session'
  | 'promo'
  | 'registration'

/** One search result. */
export type Hit = {
  readonly kind: HitKind
  readonly book: BookId | undefined
  readonly result: object
  readonly lines: readonly string[]
}

/** A screenful to choose from. */
const HITS_MAX = 20

export async function find(desk: Desk, given: string): Promise<number> {
  const hits = await findHits(desk, given)
  const books = [...new Set(hits.flatMap(({ book }) => book ?? []))]
  const [only, ...others] = books
  const near =
    only === undefined || others.length > 0 ? undefined : await customerOfBook(desk, only)
  const shown = near && (await customerOverview(desk, near))
  desk.say(
    {
      found: hits.map(({ kind, book, result }) => ({ kind, book: book ?? null, ...result })),
      around: shown?.result ?? null,
    },
    linesOf(desk, hits, shown?.lines),
  )
  return EXIT_DONE
}

/** Everything that a text is the name of. Fails with advice when that is nothing. */
export async function findHits(desk: Searched, given: string): Promise<readonly Hit[]> {
  const text = keyEnd(given.trim())
  const hits = (await Promise.all(SEARCHES.map((search) => search(desk, text)))).flat()
  if (hits.length === 0) throw commandError(await notFoundSentence(desk, text))
  return hits
}

/** What a search needs of the desk: nothing that prints or asks. */
type Searched = Pick<Desk, 'modules'>
type Search = (desk: Searched, text: string) => Promise<readonly Hit[]>

/** Results are shown in this order. */
const SEARCHES: readonly Search[] = [
  ...[findPurchase, findRequest, findSessions, findKeys, findPromo, findRegistrations],
  findAccounts,
]

async function findAccounts({ modules }: Searched, text: string): Promise<Hit[]> {
  // A single letter matches too many addresses.
  if (text.length < 2 && !isBookNumber(text)) return []
  const found = await modules.accounts.search(text, HITS_MAX)
  const isExact = ({ id, email, book }: FoundAccount) =>
    id === text || email === text.toLowerCase() || String(book) === text
  const exact = found.filter(isExact)
  const accounts = exact.length > 0 ? exact : found
  if (accounts.length > 0 || !isBookNumber(text)) return accounts.map(accountHit)
  const book = await modules.ledger.balance(BigInt(text) as BookId)
  return book === undefined ? [] : [{ kind: 'book', book: book.id, result: {}, lines: [] }]
}

/** An address that registered or was invited and has not confirmed, so that support can help. */
async function findRegistrations({ modules }: Searched, text: string): Promise<Hit[]> {
  if (!text.includes('@') && !text.startsWith('reg_')) return []
  const found = await findWaiting(modules, { text, limit: HITS_MAX })
  return found.map((one) => ({
    kind: 'registration',
    book: undefined,
    result: { ...one, state: one.isExpired ? 'expired' : (one.letter?.state ?? 'sent') },
    lines: registrationLines(one),
  }))
}

function accountHit(account: FoundAccount): Hit {
  const { id, email, book, closedAt } = account
  return { kind: 'account', book, result: { id, email, closedAt }, lines: [] }
}

async function findKeys({ modules }: Searched, text: string): Promise<Hit[]> {
  if (!text.startsWith('key_') && text.length !== 4) return []
  return (await modules.keys.search(text, HITS_MAX)).map(keyHit)
}

function keyHit({ keyId, last4, state, book, createdAt }: FoundKey): Hit {
  return {
    kind: 'key',
    book,
    result: { key: keyId, last4, state, createdAt },
    lines: [`key ${keyId} (…${last4}), ${state}, of ${formatMinute(createdAt)} UTC`],
  }
}

async function findPurchase({ modules }: Searched, text: string): Promise<Hit[]> {
  // All ids of orders and payments are longer.
  const found = text.length < 8 ? undefined : await modules.payments.search(text)
  return found === undefined ? [] : [purchaseHit(found, modules.clock.nowMs())]
}

function purchaseHit(found: FoundPurchase, nowMs: number): Hit {
  const { order, refunds, disputes, reviews, receipts } = found
  const more = {
    refunds: refunds.map(refundJson),
    disputes: disputes.map(disputeJson),
    reviews: reviews.map(reviewJson),
    receipts: receipts.map(({ amount, completed, credits, ...receipt }) => ({
      ...{ ...receipt, amount: rublesText(amount), completed: rublesText(completed) },
      credits: creditsText(credits),
    })),
  }
  const waiting = reviews.flatMap(reviewLines)
  if (order === null) return { kind: 'review', book: undefined, result: more, lines: waiting }
  const { id, state, email, packTitle, credits, price, refunded, provider, paymentId } = order
  return {
    kind: 'order',
    book: order.book,
    result: {
      ...{ id, state, email, provider, paymentId, ...more },
      credits: creditsText(credits),
      price: rublesText(price),
      refunded: rublesText(refunded),
      createdAt: order.createdAt,
      creditedAt: order.creditedAt,
      creditedBy: order.creditedBy,
      cancelReason: order.cancelReason,
    },
    lines: [
      `order ${id}, ${state}`,
      ...cardOf([
        ['sold', `${packTitle}: ${formatCredits(credits)} credits for ${formatRubles(price)}`],
        ['to', email],
        ['made', formatTime(order.createdAt)],
        ['payment', `${paymentId ?? 'none yet'} at ${provider}, by ${order.method}`],
        ['captured', order.capturedAt ? formatTime(order.capturedAt) : undefined],
        [
          'credited',
          order.creditedAt ? `${formatTime(order.creditedAt)} by ${order.creditedBy}` : 'no',
        ],
        ['ended', order.cancelReason ?? undefined],
        ['given back', refunded > 0n ? formatRubles(refunded) : undefined],
        ['receipt', order.receiptState ?? undefined],
      ]),
      ...section('its receipts', receipts.map(receiptLine)),
      ...section(
        'its refunds',
        refunds.map((one) => `${one.id}  ${formatRubles(one.amount)}  ${one.state}`),
      ),
      ...section(
        'its disputes',
        disputes.flatMap((one) => disputeLines(one, nowMs)),
      ),
      ...section('its reviews', waiting),
    ],
  }
}

function receiptLine(one: FoundPurchase['receipts'][number]): string {
  const { kind, amount, state, document, storage, sign, registeredAt, error } = one
  const numbers = `FD ${document}, FN ${storage}, FPD ${sign}`
  const end = registeredAt === null ? (error ?? '') : `${numbers}, ${formatTime(registeredAt)}`
  return `${kind}  ${formatRubles(amount)}  ${state}  ${end}`.trimEnd()
}

/** Holds of a month ago are dropped, and each day takes a second per million requests. */
const VENDOR_ID_DAYS = 31

async function findRequest({ modules }: Searched, text: string): Promise<Hit[]> {
  if (!text.startsWith('req_')) return []
  const hold = holdIdOf(text)
  const request =
    hold === undefined
      ? await modules.ledger.requestByVendorId(text, VENDOR_ID_DAYS)
      : await modules.ledger.request(hold)
  return request === undefined ? [] : [requestHit(request)]
}

function requestHit(request: RequestFacts): Hit {
  const { book, state, model, granted, charged, ending, entry, createdAt, closedAt } = request
  const { vendorRequestId } = request
  const id = requestIdOf(request.id)
  const cost = charged === null ? null : creditsText(charged)
  return {
    kind: 'request',
    book,
    result: {
      ...{ id, vendorRequestId, state, model, ending, entry },
      granted: creditsText(granted),
      charged: cost,
    },
    lines: [
      `request ${id}, ${ending ?? 'under way'}`,
      ...cardOf([
        ['model', model],
        ['vendor id', vendorRequestId ?? undefined],
        ['began', formatTime(createdAt)],
        ['ended', closedAt ? formatTime(closedAt) : undefined],
        ['held', formatCredits(granted)],
        ['charged', charged === null ? 'nothing' : `${formatCredits(charged)}, entry ${entry}`],
      ]),
    ],
  }
}

/** What clients send as the id of a session: a UUID or the like. */
const SESSION_ID = /^(?!(?:req|key|pay|rfd|dsp|acc)_)[\w.:-]{16,64}$/

async function findSessions({ modules }: Searched, text: string): Promise<Hit[]> {
  if (!SESSION_ID.test(text)) return []
  const found = await modules.ledger.usage.sessions.search(text, HITS_MAX)
  return found.map(({ book, requests, lastAt }) => ({
    kind: 'session',
    book,
    result: { session: text, requests, lastAt },
    lines: [`session ${text}, ${requests} requests, the last ${formatMinute(lastAt)} UTC`],
  }))
}

async function findPromo({ modules }: Searched, text: string): Promise<Hit[]> {
  const code = text.toUpperCase()
  const promo = (await modules.payments.promos()).find((one) => one.code === code)
  if (promo === undefined) return []
  const { credits, redeemed, redemptionsMax, startsAt, endsAt, by, note } = promo
  return [
    {
      kind: 'promo',
      book: undefined,
      result: { ...promo, credits: creditsText(credits) },
      lines: [
        `promo code ${code}: ${formatCredits(credits)} credits`,
        ...cardOf([
          ['used', `${redeemed} of ${redemptionsMax}`],
          ['in force', `${formatTime(startsAt)} to ${formatTime(endsAt)}`],
          ['by', by],
          ['note', note === '' ? undefined : note],
        ]),
      ],
    },
  ]
}

/** The results, and the overview if they belong to one book; otherwise a table of accounts. */
function linesOf(
  desk: Desk,
  hits: readonly Hit[],
  overview: readonly string[] | undefined,
): string[] {
  const things = hits.flatMap(({ lines }) => (lines.length === 0 ? [] : [...lines, '']))
  if (overview !== undefined) return [...things, ...overview]
  const accounts = hits.filter(({ kind }) => kind === 'account')
  const rows = accounts.map(({ book, result }) => {
    const { id, email } = result as { id: string; email: string }
    return [id, String(book), email]
  })
  const columns = [{ head: 'account' }, { head: 'book' }, { head: 'e-mail' }]
  const rest = hits.filter(({ kind, book }) => kind !== 'account' && book !== undefined)
  return [
    ...(rows.length > 0 ? things : things.slice(0, -1)),
    ...tableOf(columns, rows, desk.columns),
    ...(rest.length > 1 ? [`of books ${rest.map(({ book }) => book).join(', ')}`] : []),
  ]
}

async function notFoundSentence(desk: Searched, text: string): Promise<string> {
  if (text.startsWith('msg_')) return 'messages are not kept by their id; ask for the request id'
  if (/^req_/.test(text)) {
    return `no request ${text}${idHint(text)}; those of months ago are only in the statement`
  }
  if (/^(?:pay|rfd|dsp)_/.test(text)) return `there is no ${text}${idHint(text)}`
  if (text.includes('@')) return unknownCustomer(desk, text)
  const codes = (await desk.modules.payments.promos()).map(({ code }) => code)
  return `nothing is called ${text}${suggestion(text, codes)}`
}
