// op find: says what a number, an address or a part of one is, and shows everything around it. Each
// room is asked for what it knows; what several rooms know is shown as a list to choose from.
import type { FoundAccount } from '../../accounts/accounts.ts'
import type { FoundKey } from '../../keys/keys.ts'
import type { RequestFacts } from '../../ledger/ledger.ts'
import type { FoundPurchase } from '../../payments/payments.ts'
import { type BookId, holdIdOf, requestIdOf } from '../../platform/ids.ts'
import { creditsText } from '../../units/credits.ts'
import { rublesText } from '../../units/kopecks.ts'
import type { Desk } from '../desk/desk.ts'
import { creditsShown, minuteShown, rublesShown, timeShown } from '../desk/figures.ts'
import { absent, EXIT_DONE } from '../desk/halt.ts'
import { guess } from '../desk/nearest.ts'
import { numberHint } from '../desk/order.ts'
import { cardOf, tableOf } from '../desk/table.ts'
import { isBookNumber, keyEnd, unknownWhom, whomOf } from '../desk/whom.ts'
import { disputeLines, disputePlain } from '../money/disputes.ts'
import { reviewLines, reviewPlain } from '../money/reviews.ts'
import { around, refundPlain, section } from './around.ts'

/** One thing that was found. */
type Hit = {
  readonly kind: 'account' | 'book' | 'key' | 'order' | 'review' | 'request' | 'promo'
  readonly book: BookId | undefined
  readonly result: object
  readonly lines: readonly string[]
}

/** A screenful to choose from. */
const HITS_MAX = 20

export async function find(desk: Desk, given: string): Promise<number> {
  const text = keyEnd(given.trim())
  const hits = (await Promise.all(LOOKS.map((look) => look(desk, text)))).flat()
  if (hits.length === 0) throw absent(await nothing(desk, text))
  const books = [...new Set(hits.flatMap(({ book }) => book ?? []))]
  const [only, ...others] = books
  const near = only === undefined || others.length > 0 ? undefined : await whomOf(desk, only)
  const shown = near && (await around(desk, near))
  desk.say(
    {
      found: hits.map(({ kind, book, result }) => ({ kind, book: book ?? null, ...result })),
      around: shown?.result ?? null,
    },
    linesOf(desk, hits, shown?.lines),
  )
  return EXIT_DONE
}

type Look = (desk: Desk, text: string) => Promise<readonly Hit[]>

/** In the order in which they are shown. */
const LOOKS: readonly Look[] = [findPurchase, findRequest, findKeys, findPromo, findAccounts]

async function findAccounts({ rooms }: Desk, text: string): Promise<Hit[]> {
  // One letter is part of everybody's address.
  if (text.length < 2 && !isBookNumber(text)) return []
  const found = await rooms.accounts.search(text, HITS_MAX)
  const isExact = ({ id, email, book }: FoundAccount) =>
    id === text || email === text.toLowerCase() || String(book) === text
  const exact = found.filter(isExact)
  const accounts = exact.length > 0 ? exact : found
  if (accounts.length > 0 || !isBookNumber(text)) return accounts.map(accountHit)
  const book = await rooms.ledger.balance(BigInt(text) as BookId)
  return book === undefined ? [] : [{ kind: 'book', book: book.id, result: {}, lines: [] }]
}

function accountHit(account: FoundAccount): Hit {
  const { id, email, book, closedAt } = account
  return { kind: 'account', book, result: { id, email, closedAt }, lines: [] }
}

async function findKeys({ rooms }: Desk, text: string): Promise<Hit[]> {
  if (!text.startsWith('key_') && text.length !== 4) return []
  return (await rooms.keys.search(text, HITS_MAX)).map(keyHit)
}

function keyHit({ keyId, last4, state, book, createdAt }: FoundKey): Hit {
  return {
    kind: 'key',
    book,
    result: { key: keyId, last4, state, createdAt },
    lines: [`key ${keyId} (…${last4}), ${state}, of ${minuteShown(createdAt)} UTC`],
  }
}

async function findPurchase({ rooms }: Desk, text: string): Promise<Hit[]> {
  // Providers' numbers are long; a short text is none.
  const found = text.length < 8 ? undefined : await rooms.payments.search(text)
  return found === undefined ? [] : [purchaseHit(found)]
}

function purchaseHit({ order, refunds, disputes, reviews }: FoundPurchase): Hit {
  const more = {
    refunds: refunds.map(refundPlain),
    disputes: disputes.map(disputePlain),
    reviews: reviews.map(reviewPlain),
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
        ['sold', `${packTitle}: ${creditsShown(credits)} credits for ${rublesShown(price)}`],
        ['to', email],
        ['made', timeShown(order.createdAt)],
        ['payment', `${paymentId ?? 'none yet'} at ${provider}, by ${order.method}`],
        ['captured', order.capturedAt ? timeShown(order.capturedAt) : undefined],
        [
          'credited',
          order.creditedAt ? `${timeShown(order.creditedAt)} by ${order.creditedBy}` : 'no',
        ],
        ['ended', order.cancelReason ?? undefined],
        ['given back', refunded > 0n ? rublesShown(refunded) : undefined],
        ['receipt', order.receiptState ?? undefined],
      ]),
      ...section(
        'its refunds',
        refunds.map((one) => `${one.id}  ${rublesShown(one.amount)}  ${one.state}`),
      ),
      ...section('its disputes', disputes.flatMap(disputeLines)),
      ...section('its reviews', waiting),
    ],
  }
}

async function findRequest({ rooms }: Desk, text: string): Promise<Hit[]> {
  const hold = holdIdOf(text)
  const request = hold && (await rooms.ledger.request(hold))
  return request === undefined ? [] : [requestHit(request)]
}

function requestHit(request: RequestFacts): Hit {
  const { book, state, model, granted, charged, ending, entry, createdAt, closedAt } = request
  const id = requestIdOf(request.id)
  const cost = charged === null ? null : creditsText(charged)
  return {
    kind: 'request',
    book,
    result: { id, state, model, granted: creditsText(granted), charged: cost, ending, entry },
    lines: [
      `request ${id}, ${ending ?? 'under way'}`,
      ...cardOf([
        ['model', model],
        ['began', timeShown(createdAt)],
        ['ended', closedAt ? timeShown(closedAt) : undefined],
        ['held', creditsShown(granted)],
        ['charged', charged === null ? 'nothing' : `${creditsShown(charged)}, entry ${entry}`],
      ]),
    ],
  }
}

async function findPromo({ rooms }: Desk, text: string): Promise<Hit[]> {
  const code = text.toUpperCase()
  const promo = (await rooms.payments.promos()).find((one) => one.code === code)
  if (promo === undefined) return []
  const { credits, redeemed, redemptionsMax, startsAt, endsAt, by, note } = promo
  return [
    {
      kind: 'promo',
      book: undefined,
      result: { ...promo, credits: creditsText(credits) },
      lines: [
        `promo code ${code}: ${creditsShown(credits)} credits`,
        ...cardOf([
          ['used', `${redeemed} of ${redemptionsMax}`],
          ['in force', `${timeShown(startsAt)} to ${timeShown(endsAt)}`],
          ['by', by],
          ['note', note === '' ? undefined : note],
        ]),
      ],
    },
  ]
}

/** What was found, and what is around it when that is one book; else accounts to choose from. */
function linesOf(
  desk: Desk,
  hits: readonly Hit[],
  surroundings: readonly string[] | undefined,
): string[] {
  const things = hits.flatMap(({ lines }) => (lines.length === 0 ? [] : [...lines, '']))
  if (surroundings !== undefined) return [...things, ...surroundings]
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

async function nothing(desk: Desk, text: string): Promise<string> {
  if (text.startsWith('msg_')) return 'messages are not kept by their id; ask for the request id'
  if (/^req_/.test(text)) {
    return `no request ${text}${numberHint(text)}; those of months ago are only in the statement`
  }
  if (/^(?:pay|rfd|dsp)_/.test(text)) return `there is no ${text}${numberHint(text)}`
  if (text.includes('@')) return unknownWhom(desk, text)
  const codes = (await desk.rooms.payments.promos()).map(({ code }) => code)
  return `nothing is called ${text}${guess(text, codes)}`
}
