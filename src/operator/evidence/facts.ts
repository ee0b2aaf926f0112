// All that we know of a disputed purchase: the order, its payment, its delivery, and its use. `op`
// and the console make the file for the bank from it.
import type { FoundAccount } from '../../accounts/accounts.ts'
import type { Entry, Ledger, Lot } from '../../ledger/ledger.ts'
import type { Dispute, FoundOrder, FoundPurchase } from '../../payments/payments.ts'
import { dateAt } from '../../platform/clock.ts'
import { requestIdOf } from '../../platform/ids.ts'
import { type Credits, micro } from '../../units/credits.ts'
import { commandError } from '../desk/command-error.ts'
import type { OperatorModules } from '../desk/modules.ts'
import { idHint } from '../desk/order.ts'
import type { Language } from './words.ts'

/** Single requests that the file lists, newest first; the sums by day have all of them. */
const REQUESTS_MAX = 200
/** Entries that are read for them: promo codes and refunds are among a book's entries. */
const ENTRIES_MAX = 400

export type EvidenceRequest = {
  readonly at: Date
  readonly id: string
  readonly model: string
  readonly credits: Credits
  readonly session: string | null
}

export type Evidence = {
  readonly madeAt: Date
  readonly timeZone: string
  readonly dispute: Dispute
  readonly purchase: FoundPurchase & { readonly order: FoundOrder }
  /** Null: nobody owns the book, or its account was erased. */
  readonly account: FoundAccount | null
  readonly consents: Awaited<ReturnType<OperatorModules['accounts']['consentsOf']>>
  /** E-mails about the purchase; they are kept for a quarter. */
  readonly emails: Awaited<ReturnType<OperatorModules['mail']['listTo']>>
  readonly keys: readonly { readonly last4: string; readonly createdAt: Date }[]
  /** What became of this pack's credits; null: they were not credited. */
  readonly lot: Lot | null
  /** After the credits were delivered. */
  readonly use: Awaited<ReturnType<Ledger['usage']['after']>>
  readonly requests: readonly EvidenceRequest[]
}

type Modules = Pick<
  OperatorModules,
  'payments' | 'accounts' | 'ledger' | 'mail' | 'keys' | 'reports' | 'clock'
>

/** By the id of a dispute, or of its order or payment: then the newest dispute of the order. */
export async function collectEvidence(modules: Modules, text: string): Promise<Evidence> {
  const found = await modules.payments.search(text.trim())
  const dispute = found?.disputes.find(({ id }) => id === text.trim()) ?? found?.disputes.at(-1)
  if (!found?.order || dispute === undefined) {
    throw commandError(`there is no dispute of ${text}${idHint(text)}`)
  }
  const { order } = found
  const { ledger, reports } = modules
  const [buyer, lots] = await Promise.all([buyerOf(modules, order), ledger.lots(order.book)])
  return {
    madeAt: dateAt(modules.clock.nowMs()),
    timeZone: reports.timeZone,
    ...{ dispute, purchase: { ...found, order } },
    ...buyer,
    lot: lots.find(({ seq }) => seq === order.lot) ?? null,
    ...(await usageAfter(modules, order)),
  }
}

async function buyerOf({ accounts, mail, keys }: Modules, order: FoundOrder) {
  const [found] = await accounts.search(String(order.book), 1)
  const account = found?.book === order.book ? found : null
  const [consents, emails, key] = await Promise.all([
    account === null ? [] : accounts.consentsOf(account.id),
    mail.listTo([order.email]),
    keys.find(order.book),
  ])
  return {
    ...{ account, consents },
    emails: emails.filter((one) => isAboutPurchase(one.kind) && one.postedAt >= order.createdAt),
    keys: key.active === undefined ? [] : [key.active],
  }
}

function isAboutPurchase(kind: string): boolean {
  return /^(?:payment|refund|dispute)-/.test(kind)
}

async function usageAfter({ ledger, reports }: Modules, order: FoundOrder) {
  const { lot: seq, creditedAt: since, book } = order
  if (seq === null || since === null) return { use: [], requests: [] }
  const [use, entries] = await Promise.all([
    ledger.usage.after({ book, seq, since, zone: reports.timeZone }),
    ledger.statement({ book, beforeSeq: null, limit: ENTRIES_MAX }),
  ])
  const requests = entries.filter((one) => one.kind === 'charge' && one.seq > seq)
  return { use, requests: requests.slice(0, REQUESTS_MAX).map(requestOf) }
}

function requestOf({ at, holdId, model, amount, details }: Entry): EvidenceRequest {
  return {
    at,
    id: holdId === null ? '' : requestIdOf(holdId),
    model: model ?? '',
    credits: micro(-amount),
    session: details.sessionId ?? null,
  }
}

/** What requests used of a pack; the rest is left, set aside for the dispute, or refunded. */
export function spentOf({ credited, takenBack, unspent }: Lot): Credits {
  return micro(credited - takenBack - unspent)
}

/** `dispute-dsp_….ru.html`. */
export function evidenceFileName({ dispute }: Evidence, language: Language): string {
  return `dispute-${dispute.id}.${language}.html`
}
