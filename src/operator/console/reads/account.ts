// Everything that the console shows about one account, and the pages of its statement.
import type { Closing, FoundAccount } from '../../../accounts/accounts.ts'
import type { Book, Entry } from '../../../ledger/ledger.ts'
import type { OrderView, Refund } from '../../../payments/payments.ts'
import { type BookId, requestIdOf } from '../../../platform/ids.ts'
import { waitsFor } from '../../closings.ts'
import { isBookNumber } from '../../desk/customer.ts'
import type { OperatorModules } from '../../desk/modules.ts'
import type * as contract from '../contract/contract.ts'
import { ConsoleRefusal } from '../refusals.ts'
import { listActs } from './acts.ts'
import { creditsOf, creditsOrNull, timeOf, timeOrNull } from './amounts.ts'

/** A screenful of each list; the statement has pages, and `op` has everything. */
const SHOWN_MAX = 20
/** As long as counts of refused requests help to answer a customer. */
const REFUSED_DAYS = 30
const STATEMENT_PAGE = 50

type Recovery = NonNullable<Awaited<ReturnType<OperatorModules['accounts']['recovery']['living']>>>
type Modules = Pick<OperatorModules, 'ledger' | 'keys' | 'accounts' | 'payments' | 'mail' | 'acts'>

/** Refuses: thing_unknown. */
export async function readAccount(modules: Modules, text: string): Promise<contract.Account> {
  const { ledger, accounts, keys, payments, mail } = modules
  const id = bookOf(text)
  const book = await ledger.balance(id)
  if (book === undefined) throw unknown()
  const [found] = await accounts.search(String(id), 1)
  const owner = found?.book === id ? found : undefined
  const [recent, beneath, key, orders, refunds, topUps, sessions, refused, letters, acts] =
    await Promise.all([
      ledger.usage.recent(id),
      ledger.stopAfterUnblock(id),
      keys.find(id),
      payments.orders({ book: id, before: null, limit: SHOWN_MAX }),
      payments.refunds(id),
      payments.topUps.read(id),
      ledger.usage.sessions.page({ book: id, kind: 'session', before: null, limit: SHOWN_MAX }),
      ledger.usage.refused.listMost({ book: id, days: REFUSED_DAYS, limit: SHOWN_MAX }),
      owner === undefined ? [] : mail.listTo([owner.email]),
      listActs(modules, {
        ...{ by: null, limit: SHOWN_MAX, about: { account: owner?.id ?? null, book: id } },
      }),
    ])
  return {
    book: String(id),
    owner: owner === undefined ? null : ownerOf(owner),
    ...balanceOf(book),
    spent30Days: creditsOf(recent.spent30Days),
    requestsToday: String(recent.requestsToday),
    stopBeneath: beneath,
    ...(await endingsOf(modules, owner)),
    keys: keyLines(key),
    orders: orders.map(orderLine),
    refunds: refunds.slice(0, SHOWN_MAX).map(refundLine),
    mandate: mandateLine(topUps.mandate),
    sessions: sessions.sessions.map(({ id: session, requests, spent, models, lastAt }) => ({
      ...{ id: session, requests: String(requests), models },
      ...{ spent: creditsOf(spent), lastAt: timeOf(lastAt) },
    })),
    letters: letters.slice(0, SHOWN_MAX).map(({ kind, subject, state, postedAt }) => ({
      ...{ kind, subject, state, postedAt: timeOf(postedAt) },
    })),
    refused: refused.map(({ reason, requests, lastAt }) => ({
      ...{ reason, requests: String(requests), lastAt: timeOf(lastAt) },
    })),
    acts,
  }
}

function ownerOf(account: FoundAccount): contract.Account['owner'] {
  const { id, email, hasSecondFactor, createdAt, closedAt } = account
  return {
    ...{ id, email, hasSecondFactor },
    ...{ createdAt: timeOf(createdAt), closedAt: timeOrNull(closedAt) },
  }
}

/** The closing and the recovery that are under way. */
async function endingsOf(
  modules: Modules,
  owner: FoundAccount | undefined,
): Promise<Pick<contract.Account, 'closing' | 'recovery'>> {
  if (owner === undefined) return { closing: null, recovery: null }
  const { closings, recovery } = modules.accounts
  const [closing, living] = await Promise.all([closings.find(owner.id), recovery.living(owner.id)])
  return {
    closing: closing === undefined ? null : await closingLine(modules, closing),
    recovery: living === undefined ? null : recoveryLine(living),
  }
}

async function closingLine(modules: Modules, closing: Closing): Promise<contract.ClosingLine> {
  const { begunBy, begunAt } = closing
  // One under way has not ended.
  const step = closing.step as contract.ClosingLine['step']
  return { step, begunBy, begunAt: timeOf(begunAt), waits: await waitsFor(modules, closing) }
}

function recoveryLine({ kind, begunBy, begunAt, ripeAt }: Recovery): contract.RecoveryLine {
  return { kind, begunBy, begunAt: timeOf(begunAt), ripeAt: timeOrNull(ripeAt) }
}

function balanceOf(book: Book) {
  return {
    available: creditsOf(book.available),
    held: creditsOf(book.held),
    debt: creditsOf(book.debt),
    spentTotal: creditsOf(book.spentTotal),
    requests: String(book.requests),
    stop: book.blockedReason,
    guards: {
      dayLimit: creditsOrNull(book.dayLimit),
      daySpent: creditsOf(book.daySpent),
      velocityLimit: creditsOrNull(book.velocityLimit),
      velocitySeconds: book.velocitySeconds,
    },
  }
}

type KeyState = Awaited<ReturnType<OperatorModules['keys']['find']>>

function keyLines({ active, pending }: KeyState): contract.KeyLine[] {
  return [
    ...(active === undefined ? [] : [{ ...active, state: 'active' as const }]),
    ...(pending === undefined ? [] : [{ ...pending, state: 'pending' as const }]),
  ].map(({ keyId, last4, state, createdAt }) => ({
    ...{ id: keyId, last4, state, createdAt: timeOf(createdAt) },
  }))
}

/** A page of entries, newest first. Refuses: thing_unknown. */
export async function readStatement(
  { ledger }: Pick<Modules, 'ledger'>,
  text: string,
  before: string | undefined,
): Promise<{ entries: contract.EntryLine[]; next: string | null }> {
  const book = bookOf(text)
  const beforeSeq = before === undefined ? null : BigInt(before)
  const entries = await ledger.statement({ book, beforeSeq, limit: STATEMENT_PAGE + 1 })
  const shown = entries.slice(0, STATEMENT_PAGE)
  return {
    entries: shown.map(entryLine),
    next: entries.length > STATEMENT_PAGE ? String(shown.at(-1)?.seq) : null,
  }
}

export function bookOf(text: string): BookId {
  if (!isBookNumber(text)) throw unknown()
  return BigInt(text) as BookId
}

function unknown(): ConsoleRefusal {
  return new ConsoleRefusal('thing_unknown', 'There is no such account.')
}

function entryLine(entry: Entry): contract.EntryLine {
  const { kind, model, ending, ref, note } = entry
  return {
    ...{ kind, model, ending, ref, note },
    seq: String(entry.seq),
    at: timeOf(entry.at),
    amount: creditsOf(entry.amount),
    balance: creditsOf(entry.balance),
    request: entry.holdId === null ? null : requestIdOf(entry.holdId),
  }
}

function orderLine(order: OrderView): contract.OrderLine {
  const { id, state, pack, method, receiptState, isTopUp } = order
  return {
    ...{ id, state, method, receiptState, isTopUp, pack: pack.title },
    credits: creditsOf(pack.credits),
    priceKopecks: String(order.priceKopecks),
    refundedKopecks: String(order.refundedKopecks),
    createdAt: timeOf(order.createdAt),
  }
}

function refundLine(refund: Refund): contract.RefundLine {
  const { id, order, state, amount, askedBy, reason, createdAt } = refund
  return {
    ...{ id, order, state, by: askedBy, reason },
    amountKopecks: String(amount),
    createdAt: timeOf(createdAt),
  }
}

type Mandate = Awaited<ReturnType<OperatorModules['payments']['topUps']['read']>>['mandate']

function mandateLine(mandate: Mandate): contract.MandateLine | null {
  if (mandate === undefined) return null
  const { title, packId, price, threshold, dayCeiling, monthCeiling, givenAt, endedAt, endedWhy } =
    mandate
  return {
    ...{ title, pack: packId, endedWhy },
    priceKopecks: String(price),
    threshold: creditsOf(threshold),
    dayCeilingKopecks: String(dayCeiling),
    monthCeilingKopecks: String(monthCeiling),
    givenAt: timeOf(givenAt),
    endedAt: timeOrNull(endedAt),
  }
}
