// The payer's pages and actions, by URL. A form that changed something redirects instead of
// answering with a page, so a reload repeats nothing. Node runs one act at a time and the store
// settles a payment once: a form sent twice pays once.
import type { Card, Payment } from './objects.ts'
import { outcomeOf, readCard } from './pages-cards.ts'
import type { View } from './pages-layout.ts'
import { cardPage, codePage, type Drawn, declinedPage, endPage, type Said } from './pages-pay.ts'
import { appDonePage, appPage, appRefusedPage, sbpPage } from './pages-sbp.ts'
import type { Store } from './store.ts'
import { reasonText } from './words.ts'

export type Visit = View & { readonly query: URLSearchParams; readonly form: URLSearchParams }

export type Answer =
  | { readonly page: Drawn; readonly status?: number }
  /** A path on this server. */
  | { readonly to: string }
  | { readonly json: object }

export type Act = (visit: Visit) => Answer | Promise<Answer>

// Payers who were asked for a code and did not return; each costs some 200 bytes.
const challengesMax = 10_000

// The provider itself refuses these; a bank refuses all others.
const providerReasons: readonly string[] = ['country_forbidden', 'fraud_suspected']

// The provider has no code for a payer's own refusal.
const refusalReason = 'general_decline'

export function createActs(store: Store): ReadonlyMap<string, Act> {
  /** Cards that wait for their bank's code, by payment. */
  const challenges = new Map<string, Card>()

  const isOpen = ({ payment, remainingMs }: View) => payment.status === 'pending' && remainingMs > 0
  const isChoice = ({ payment }: View) => store.methodsFor(payment.id).length > 1
  const offers = ({ payment }: View, method: 'bank_card' | 'sbp') =>
    store.methodsFor(payment.id).includes(method)

  // All pages except that of the payment itself work only while it can be paid.
  const whileOpen =
    (act: Act): Act =>
    (visit) => {
      if (isOpen(visit)) return act(visit)
      return { to: visit.at(isPaid(visit.payment) ? '/return' : '') }
    }

  function challenge(id: string, card: Card): void {
    const oldest = challenges.keys().next()
    if (challenges.size >= challengesMax && !oldest.done) challenges.delete(oldest.value)
    challenges.set(id, card)
  }

  function decline(visit: Visit, reason: string): Answer {
    store.declineAttempt(visit.payment.id, reason)
    return { to: visit.at('/declined') }
  }

  function pay(visit: Visit, card: Card, threeDSecure: boolean): Answer {
    const isSettled = store.succeed(visit.payment.id, { type: 'bank_card', card, threeDSecure })
    return { to: visit.at(isSettled ? '/return' : '') }
  }

  const showPayment: Act = (visit) => {
    if (!isOpen(visit)) return { page: overPage(visit) }
    if (offers(visit, 'bank_card')) return { page: cardPage(visit, isChoice(visit)) }
    if (offers(visit, 'sbp')) return { to: visit.at('/sbp') }
    return { page: overPage(visit) }
  }

  const sendCard: Act = (visit) => {
    if (!offers(visit, 'bank_card')) return { to: visit.at('') }
    const typed = {
      number: visit.form.get('number') ?? '',
      expiry: visit.form.get('expiry') ?? '',
      cvc: visit.form.get('cvc') ?? '',
    }
    const { problems, number, card } = readCard(typed, store.now())
    if (problems !== undefined) {
      return { page: cardPage(visit, isChoice(visit), { typed, problems }), status: 422 }
    }
    const outcome = outcomeOf(number)
    if (outcome.kind === 'declined') return decline(visit, outcome.reason)
    if (outcome.kind === 'paid') return pay(visit, card, false)
    challenge(visit.payment.id, card)
    return { to: visit.at('/3ds') }
  }

  const showCode: Act = (visit) => {
    const card = challenges.get(visit.payment.id)
    return card === undefined ? { to: visit.at('') } : { page: codePage(visit, card.last4) }
  }

  const sendCode: Act = (visit) => {
    const card = challenges.get(visit.payment.id)
    if (card === undefined) return { to: visit.at('') }
    const isRefused = visit.form.get('answer') === 'refuse'
    if (!isRefused && (visit.form.get('code') ?? '').trim() === '') {
      return { page: codePage(visit, card.last4, true), status: 422 }
    }
    challenges.delete(visit.payment.id)
    return isRefused ? decline(visit, '3d_secure_failed') : pay(visit, card, true)
  }

  const showDeclined: Act = (visit) => {
    const attempt = visit.payment.sim.attempts.at(-1)
    if (attempt === undefined) return { to: visit.at('') }
    const { words } = visit
    const reason = reasonText(words, attempt.reason)
    const said = { title: words.declinedTitle, reason, retry: visit.at('') }
    return { page: declinedPage(visit, said) }
  }

  // A payer who gives up after a decline ends the payment, and the shop gets the bank's reason. A
  // payer who only closes the page leaves it pending.
  const giveUp: Act = (visit) => {
    const attempt = visit.payment.sim.attempts.at(-1)
    if (attempt !== undefined && isOpen(visit)) {
      store.cancel(visit.payment.id, {
        party: providerReasons.includes(attempt.reason) ? 'yoo_money' : 'payment_network',
        reason: attempt.reason,
      })
    }
    return { to: visit.at('/return') }
  }

  const showSbp: Act = async (visit) => {
    if (!offers(visit, 'sbp')) return { to: visit.at('') }
    const { attempts } = visit.payment.sim
    // An attempt failed since the page was opened: in the bank app, or with a card in another tab.
    if (attempts.length > Number(visit.query.get('seen') ?? attempts.length)) {
      const isRefusal = attempts.at(-1)?.reason === refusalReason
      return { to: visit.at(isRefusal ? '/refused' : '/declined') }
    }
    return { page: await sbpPage(visit, isChoice(visit), attempts.length) }
  }

  const showRefused: Act = (visit) => {
    const { words, payment } = visit
    if (payment.sim.attempts.length === 0) return { to: visit.at('') }
    const said = { title: words.sbpRefusedTitle, reason: words.sbpRefused, retry: visit.at('/sbp') }
    return { page: declinedPage(visit, said) }
  }

  const tellStatus: Act = (visit) => {
    const { status, sim } = visit.payment
    const isLate = status === 'pending' && !isOpen(visit)
    return { json: { status: isLate ? 'expired' : status, attempts: sim.attempts.length } }
  }

  const leave: Act = (visit) => {
    const { returnUrl } = visit.payment.sim
    if (returnUrl === null) return { to: visit.at('') }
    const { title, kind } = overSaid(visit)
    const said = isOpen(visit)
      ? { kind: 'late' as const, title: visit.words.returning, lines: [] }
      : { kind, title, lines: [visit.words.returning] }
    return { page: { ...endPage(visit.words, said, visit), leaveTo: returnUrl } }
  }

  const showApp: Act = (visit) => {
    if (isPaid(visit.payment)) return { page: appDonePage(visit) }
    const isUsable = isOpen(visit) && offers(visit, 'sbp')
    return { page: isUsable ? appPage(visit) : overPage(visit) }
  }

  const answerApp: Act = (visit) => {
    if (!isOpen(visit)) return { to: visit.at('') }
    const { id } = visit.payment
    if (visit.form.get('answer') === 'confirm') {
      store.succeed(id, { type: 'sbp' })
      return { to: visit.at('') }
    }
    store.declineAttempt(id, refusalReason)
    return { to: visit.at('/refused') }
  }

  const showAppRefused: Act = (visit) => {
    return isOpen(visit) ? { page: appRefusedPage(visit) } : { to: visit.at('') }
  }

  return new Map<string, Act>([
    ['GET pay', showPayment],
    // The payer switched the language while the form showed its messages.
    ['GET pay/card', (visit) => ({ to: visit.at('') })],
    ['POST pay/card', whileOpen(sendCard)],
    ['GET pay/3ds', whileOpen(showCode)],
    ['POST pay/3ds', whileOpen(sendCode)],
    ['GET pay/declined', whileOpen(showDeclined)],
    ['POST pay/give-up', giveUp],
    ['GET pay/sbp', whileOpen(showSbp)],
    ['GET pay/refused', whileOpen(showRefused)],
    ['GET pay/status', tellStatus],
    ['GET pay/return', leave],
    ['GET sbp', showApp],
    ['POST sbp', answerApp],
    ['GET sbp/refused', showAppRefused],
  ])
}

/** For the payer, held money counts as paid. */
function isPaid(payment: Payment): boolean {
  return payment.status === 'succeeded' || payment.status === 'waiting_for_capture'
}

function overPage(view: View): Drawn {
  return endPage(view.words, overSaid(view), view)
}

function overSaid({ words, payment, remainingMs }: View): Said {
  if (isPaid(payment)) return { kind: 'good', title: words.paidTitle, lines: [words.paid] }
  if (payment.status === 'pending' && remainingMs > 0) {
    return { kind: 'bad', title: words.notOfferedTitle, lines: [words.notOffered] }
  }
  // A pending payment whose term is over is about to be canceled for that reason.
  const code = payment.cancellation_details?.reason ?? 'expired_on_confirmation'
  const { title, advice } = reasonText(words, code)
  const isLate = code === 'expired_on_confirmation'
  return {
    kind: isLate ? 'late' : 'bad',
    title: isLate ? words.expiredTitle : words.canceledTitle,
    lines: [title, advice],
  }
}
