// The overview of one customer for an operator: owner, balance, key, last orders and refunds. It
// contains no secrets, because the modules it reads from return none.
import type { KeyView } from '../../keys/keys.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import type { OrderView, Refund } from '../../payments/payments.ts'
import { creditsText } from '../../units/credits.ts'
import { rublesText } from '../../units/kopecks.ts'
import {
  formatCount,
  formatCredits,
  formatDay,
  formatRubleCell,
  formatTime,
} from '../desk/amounts.ts'
import type { Customer } from '../desk/customer.ts'
import type { Desk } from '../desk/desk.ts'
import { cardOf, tableOf } from '../desk/table.ts'

const SHOWN_MAX = 5

const BLOCKED = {
  operator_blocked: 'SUSPENDED by an operator: requests get 403',
  owner_suspended: 'suspended by its owner',
  velocity_stopped: 'stopped: it spent faster than its own limit',
}

export async function customerOverview(desk: Desk, customer: Customer) {
  const { accounts, ledger, keys, payments } = desk.modules
  const { account } = customer
  const { id } = customer.book
  const [closing, beneath, recent, key, orders, refunds, trial] = await Promise.all([
    account?.closedAt === null ? accounts.closings.find(account.id) : undefined,
    ledger.stopAfterUnblock(id),
    ledger.usage.recent(id),
    keys.find(id),
    payments.orders({ book: id, before: null, limit: SHOWN_MAX }),
    payments.refunds(id),
    payments.trial(id),
  ])
  const last = refunds.slice(0, SHOWN_MAX)
  return {
    result: {
      account: customer.account ?? null,
      book: { ...bookJson(customer), stopBeneath: beneath },
      requestsToday: recent.requestsToday,
      spent30Days: creditsText(recent.spent30Days),
      lastTopUpAt: recent.lastTopUpAt,
      trial: trial ?? null,
      key: key.active ?? null,
      pendingKey: key.pending ?? null,
      orders: orders.map(orderJson),
      refunds: last.map(refundJson),
    },
    lines: [
      ...cardOf([
        ...ownerFacts(customer),
        [
          'closing',
          closing &&
            `since ${formatTime(closing.begunAt)}, begun by the ${closing.begunBy}: op closings`,
        ],
        ['book', `${id}, ${stateOf(customer, closing !== undefined)}`],
        ...balanceFacts(customer, recent, beneath),
        ['trial', trial && `${formatCredits(trial.credits)} on ${formatTime(trial.grantedAt)}`],
        ...keyFacts(key.active),
      ]),
      ...section('last orders', orderTable(orders, desk.columns)),
      ...section('last refunds', refundTable(last, desk.columns)),
    ],
  }
}

type Facts = (readonly [string, string | undefined])[]

function ownerFacts({ account }: Customer): Facts {
  return [
    ['account', account?.id ?? 'none: nobody owns this book'],
    ['e-mail', account?.email],
    ['since', account && formatTime(account.createdAt)],
    ['closed', account?.closedAt ? formatTime(account.closedAt) : undefined],
  ]
}

/** A closing stops the book as its owner can; nobody has suspended it then. */
function stateOf({ account, book }: Customer, isClosing: boolean): string {
  const isEnding = isClosing || (account !== undefined && account.closedAt !== null)
  if (isEnding && book.blockedReason === 'owner_suspended') return 'it takes no requests'
  return book.blockedReason === null ? 'open' : BLOCKED[book.blockedReason]
}

function balanceFacts(
  { book }: Customer,
  recent: Awaited<ReturnType<Ledger['usage']['recent']>>,
  beneath: Awaited<ReturnType<Ledger['stopAfterUnblock']>>,
): Facts {
  const spent = formatCredits(recent.spent30Days)
  const today = formatCount(recent.requestsToday)
  return [
    ['and then', beneath === null ? undefined : BLOCKED[beneath]],
    ['available', formatCredits(book.available)],
    ['held', book.held > 0n ? formatCredits(book.held) : undefined],
    ['DEBT', book.debt > 0n ? formatCredits(book.debt) : undefined],
    ['day limit', book.dayLimit === null ? undefined : formatCredits(book.dayLimit)],
    ['spent', `${formatCredits(book.spentTotal)}, of it ${spent} in 30 days`],
    ['requests', `${formatCount(book.requests)}, of them ${today} today`],
  ]
}

function keyFacts(key: KeyView | undefined): Facts {
  if (key === undefined) return [['key', 'none in force']]
  return [
    ['key', `${key.keyId} (…${key.last4})`],
    ['', `since ${formatTime(key.createdAt)}`],
  ]
}

export function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', title, ...lines]
}

function orderTable(orders: readonly OrderView[], columns: number): string[] {
  return tableOf(
    [{ head: 'day, UTC' }, { head: 'order' }, { head: 'RUB', side: 'right' }, { head: 'state' }],
    orders.map(({ id, createdAt, priceKopecks, state }) => [
      formatDay(createdAt),
      id,
      formatRubleCell(priceKopecks),
      state,
    ]),
    columns,
  )
}

function refundTable(refunds: readonly Refund[], columns: number): string[] {
  return tableOf(
    [{ head: 'day, UTC' }, { head: 'refund' }, { head: 'RUB', side: 'right' }, { head: 'state' }],
    refunds.map(({ id, createdAt, amount, state }) => [
      formatDay(createdAt),
      id,
      formatRubleCell(amount),
      state,
    ]),
    columns,
  )
}

function bookJson({ book }: Customer) {
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

function orderJson({ id, state, pack, priceKopecks, refundedKopecks, createdAt }: OrderView) {
  return {
    ...{ id, state, createdAt, pack: pack.id },
    credits: creditsText(pack.credits),
    price: rublesText(priceKopecks),
    refunded: rublesText(refundedKopecks),
  }
}

export function refundJson(refund: Omit<Refund, 'requestBody'>) {
  const { id, order, state, amount, credits, askedBy, reason, createdAt, endedAt } = refund
  return {
    ...{ id, order, state, askedBy, reason, createdAt, endedAt },
    amount: rublesText(amount),
    credits: creditsText(credits),
  }
}
