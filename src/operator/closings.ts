// op close, op closings: an operator begins to close an account, and lists the closings that are
// under way with what each waits for. The worker takes the steps, as for an owner.
import type { Closing } from '../accounts/accounts.ts'
import { micro } from '../units/credits.ts'
import { rublesText } from '../units/kopecks.ts'
import { formatCredits, formatRubles, formatTime, parseCount } from './desk/amounts.ts'
import { commandError, EXIT_DONE } from './desk/command-error.ts'
import { customerName, customerTitle, findCustomer } from './desk/customer.ts'
import type { Desk } from './desk/desk.ts'

/** A screen or two; more at once would be a fault of the worker. */
const LIST_MAX = 100

export async function closeAccount(desk: Desk, text: string): Promise<number> {
  const { accounts, payments } = desk.modules
  const customer = await findCustomer(desk, text)
  const { book, account } = customer
  if (account === undefined) throw commandError('a book without an owner has no account to close')
  if (account.closedAt !== null) throw commandError(`${account.email} is closed already`)
  if ((await accounts.closings.find(account.id)) !== undefined) {
    throw commandError(`${account.email} is closing already: op closings`)
  }
  const unspent = desk.flag('forfeit') ? 'forfeit' : 'refund'
  const { amount } = await payments.closings.preview(book.id)
  // Not what could be refunded now: running requests give back what they hold, an open order may
  // be paid, and a policy that refunds nothing makes paid credits worth no less to their owner.
  const ended = micro(book.available + book.held)
  const most = await payments.closings.worthAtMost(book.id, ended)
  const reason = desk.text('reason') ?? ''
  const what =
    unspent === 'refund'
      ? `  then about ${formatRubles(amount)} of unspent credits goes back, the rest is forfeited`
      : `  then ${formatCredits(book.available)} credits are forfeited; refundable now: ` +
        formatRubles(amount)
  const begins = '  its key stops now; running requests end, and open orders run out'
  const worth =
    `  at most ${formatRubles(most.amount)} of what was paid ends with it, held credits and open ` +
    `orders included; purchases: ${most.purchases}`
  const ends = '  then nobody can sign in; the owner gets an e-mail now and at the end'
  return desk.act({
    plan: [customerTitle(customer), begins, what, worth, ends, `  reason: ${reason}`],
    // Use makes the sum smaller; a purchase since then was not approved.
    compared: [customerName(customer), begins, unspent, `${most.purchases}`, ends, reason],
    // What is forfeited counts too: it was the customer's money.
    needs: { kind: 'refund', size: most.amount },
    typeAgain: account.email,
    async work(tx) {
      if (await accounts.closings.beginFor(tx, account.id, unspent)) return
      throw commandError(`${account.email} is closing already: op closings`)
    },
    moves: () =>
      unspent === 'refund'
        ? { kind: 'kopecks', amount: most.amount }
        : { kind: 'credits', amount: ended },
    report: () => ({
      result: { account: account.id, book: book.id, unspent, refunds: rublesText(amount) },
      line: `the account of book ${book.id} is closing; op closings shows its steps`,
    }),
  })
}

export async function listClosings(desk: Desk): Promise<number> {
  const { accounts } = desk.modules
  const limit = desk.read('limit', parseCount, 'a number of closings') ?? LIST_MAX
  const found = await accounts.closings.list(limit)
  const lines = await Promise.all(
    found.map(async (one) => ({ ...one, waits: await waitsFor(desk.modules, one) })),
  )
  desk.say(
    { closings: lines },
    lines.length === 0
      ? ['no account is closing']
      : lines.flatMap(({ email, account, book, step, unspent, begunBy, begunAt, waits }) => [
          `${email}  ${step} since ${formatTime(begunAt)}, begun by the ${begunBy}, ${unspent}`,
          `  ${account}, book ${book}`,
          ...waits.map((line) => `  waits: ${line}`),
        ]),
  )
  return EXIT_DONE
}

/** Why the next step is not taken yet; nothing when a worker will take it. */
export async function waitsFor(
  { accounts, ledger, payments }: Pick<Desk['modules'], 'accounts' | 'ledger' | 'payments'>,
  closing: Closing,
): Promise<string[]> {
  const { account, book, step } = closing
  const [isUndoable, balance, orders, disputed, refunds] = await Promise.all([
    accounts.closings.isUndoable(account),
    ledger.balance(book),
    payments.closings.payableOrders(book),
    payments.closings.disputed(closing),
    payments.closings.open(book),
  ])
  const held = balance?.held ?? 0n
  const waits = [
    ...(held > 0n ? [`${formatCredits(held)} credits are held by requests`] : []),
    ...(step === 'closing' && orders > 0 ? [`${orders} orders can still be paid`] : []),
    ...disputed.map((order) => `the bank decides the dispute of ${order}, op disputes`),
    ...refunds.map(
      ({ id, amount, state, isHeldBack }) =>
        `${id} of ${formatRubles(amount)}: ${isHeldBack ? 'decide it, op reviews' : state}`,
    ),
    ...(isUndoable ? ['a change of its address or a recovery can be undone for a week'] : []),
  ]
  return waits
}
