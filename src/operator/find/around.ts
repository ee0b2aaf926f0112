// Everything around one book that an operator wants to see at once: whose it is, what it has, its
// key, its last orders and refunds. Never a secret: there is none to be read.
import type { KeyView } from '../../keys/keys.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { OrderView, Refund } from '../../payments/payments.ts'
import { creditsText } from '../../units/credits.ts'
import { rublesText } from '../../units/kopecks.ts'
import type { Desk } from '../desk/desk.ts'
import { countShown, creditsShown, dayShown, rublesShown, timeShown } from '../desk/figures.ts'
import { cardOf, tableOf } from '../desk/table.ts'
import type { Whom } from '../desk/whom.ts'

const LAST = 5

const BLOCKED = {
  operator_blocked: 'SUSPENDED by an operator: requests get 403',
  owner_suspended: 'suspended by its owner',
  velocity_stopped: 'stopped: it spent faster than its own limit',
}

export async function around(desk: Desk, of: Whom) {
  const { ledger, keys, payments } = desk.rooms
  const { id } = of.book
  const [beneath, recent, key, orders, refunds] = await Promise.all([
    ledger.stopBeneath(id),
    ledger.usage.recent(id),
    keys.find(id),
    payments.orders({ book: id, before: null, limit: LAST }),
    payments.refunds(id),
  ])
  const last = refunds.slice(0, LAST)
  return {
    result: {
      account: of.account ?? null,
      book: { ...bookPlain(of), stopBeneath: beneath },
      requestsToday: recent.requestsToday,
      spent30Days: creditsText(recent.spent30Days),
      lastTopUpAt: recent.lastTopUpAt,
      key: key.active ?? null,
      pendingKey: key.pending ?? null,
      orders: orders.map(orderPlain),
      refunds: last.map(refundPlain),
    },
    lines: [
      ...cardOf([...whose(of), ...has(of, recent, beneath), ...opens(key.active)]),
      ...section('last orders', orderTable(orders, desk.columns)),
      ...section('last refunds', refundTable(last, desk.columns)),
    ],
  }
}

type Facts = (readonly [string, string | undefined])[]

function whose({ account }: Whom): Facts {
  return [
    ['account', account?.id ?? 'none: nobody owns this book'],
    ['e-mail', account?.email],
    ['since', account && timeShown(account.createdAt)],
    ['closed', account?.closedAt ? timeShown(account.closedAt) : undefined],
  ]
}

function has(
  { book }: Whom,
  recent: Awaited<ReturnType<Ledger['usage']['recent']>>,
  beneath: Awaited<ReturnType<Ledger['stopBeneath']>>,
): Facts {
  const spent = creditsShown(recent.spent30Days)
  const today = countShown(recent.requestsToday)
  return [
    ['book', `${book.id}, ${book.blockedReason ? BLOCKED[book.blockedReason] : 'open'}`],
    ['and then', beneath === null ? undefined : BLOCKED[beneath]],
    ['available', creditsShown(book.available)],
    ['held', book.held > 0n ? creditsShown(book.held) : undefined],
    ['DEBT', book.debt > 0n ? creditsShown(book.debt) : undefined],
    ['day limit', book.dayLimit === null ? undefined : creditsShown(book.dayLimit)],
    ['spent', `${creditsShown(book.spentTotal)}, of it ${spent} in 30 days`],
    ['requests', `${countShown(book.requests)}, of them ${today} today`],
  ]
}

function opens(key: KeyView | undefined): Facts {
  if (key === undefined) return [['key', 'none in force']]
  return [
    ['key', `${key.keyId} (…${key.last4})`],
    ['', `since ${timeShown(key.createdAt)}`],
  ]
}

export function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', title, ...lines]
}

function orderTable(orders: readonly OrderView[], columns: number): string[] {
  return tableOf(
    [{ head: 'day, UTC' }, { head: 'order' }, { head: 'RUB', side: 'right' }, { head: 'state' }],
    orders.map(({ id, createdAt, priceKopecks, state }) => [
      dayShown(createdAt),
      id,
      rublesShown(priceKopecks).replace(' RUB', ''),
      state,
    ]),
    columns,
  )
}

function refundTable(refunds: readonly Refund[], columns: number): string[] {
  return tableOf(
    [{ head: 'day, UTC' }, { head: 'refund' }, { head: 'RUB', side: 'right' }, { head: 'state' }],
    refunds.map(({ id, createdAt, amount, state }) => [
      dayShown(createdAt),
      id,
      rublesShown(amount).replace(' RUB', ''),
      state,
    ]),
    columns,
  )
}

function bookPlain({ book }: Whom) {
  return {
    id: book.id,
    available: creditsText(book.available),
    held: creditsText(book.held),
    debt: creditsText(book.debt),
    spentTotal: creditsText(book.spentTotal),
    requests: book.requests,
    dayLimit: book.dayLimit === null ? null : creditsText(book.dayLimit),
    blockedReason: book.blockedReason,
  }
}

function orderPlain({ id, state, pack, priceKopecks, refundedKopecks, createdAt }: OrderView) {
  return {
    ...{ id, state, createdAt, pack: pack.id },
    credits: creditsText(pack.credits),
    price: rublesText(priceKopecks),
    refunded: rublesText(refundedKopecks),
  }
}

export function refundPlain(refund: Omit<Refund, 'requestBody'>) {
  const { id, order, state, amount, credits, askedBy, reason, createdAt, endedAt } = refund
  return {
    ...{ id, order, state, askedBy, reason, createdAt, endedAt },
    amount: rublesText(amount),
    credits: creditsText(credits),
  }
}
