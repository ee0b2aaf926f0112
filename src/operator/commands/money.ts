// Commands about money: credits by hand, refunds, promo codes, reviews, disputes, reconciliation.
import { printEvidence } from '../evidence/evidence.ts'
import { listDisputes, loseDispute, openDispute, winDispute } from '../money/disputes.ts'
import { adjust, grant } from '../money/money.ts'
import { checkOrder, listStuckOrders } from '../money/orders.ts'
import { createPromo, endPromo, listPromos } from '../money/promo.ts'
import { dismissReceipt, listReceipts, retryReceipts } from '../money/receipts.ts'
import { reconcile } from '../money/reconcile.ts'
import { refund } from '../money/refund.ts'
import { listReviews, resolveReview } from '../money/reviews.ts'
import { listSignals } from '../money/signals.ts'
import { FROM, NOTE, type OperatorCommand, REASON, REF, TO } from './command.ts'

export const moneyCommands: readonly OperatorCommand[] = [
  {
    usage: 'grant <whom> <credits>',
    permission: 'credits.grant',
    readsPersonalData: true,
    description: 'give promo credits; they are never refunded',
    options: [REASON, REF],
    run: grant,
  },
  {
    usage: 'adjust <whom> <credits>',
    permission: 'credits.adjust',
    readsPersonalData: true,
    description: 'correct a balance, up or down; down at most by what is available',
    options: [REASON, REF, ['--contra <side>', 'loss (default), promo, revenue or clearing']],
    run: adjust,
  },
  {
    usage: 'refund <order>',
    permission: 'payments.refund',
    readsPersonalData: true,
    description: 'give back what is unspent of an order',
    options: [REASON, REF, ['--amount <roubles>', 'a part of it']],
    run: refund,
  },
  {
    usage: 'promo list',
    permission: 'payments.read',
    isUnattended: true,
    description: 'all codes, and how often each was used',
    run: listPromos,
  },
  {
    usage: 'promo create <code> <credits>',
    permission: 'promos.change',
    description: 'a new code',
    options: [
      ['--times <n>', 'how many accounts may use it', 'needed'],
      ['--until <day>', 'to the end of this day, UTC', 'needed'],
      ['--from <day>', 'not before this day, UTC'],
      ['--purchases <n>', 'only for accounts with this many purchases, none of them refunded'],
      ['--note <text>', 'what it is for'],
    ],
    run: createPromo,
  },
  {
    usage: 'promo end <code>',
    permission: 'promos.change',
    description: 'nobody can use it any more',
    run: endPromo,
  },
  {
    usage: 'reconcile',
    permission: 'checks.run',
    isUnattended: true,
    description: 'compare orders with the provider for a period; exit 1 when they differ',
    options: [FROM, TO, ['--apply', 'ask the provider about what was not credited']],
    run: reconcile,
  },
  {
    usage: 'orders stuck',
    permission: 'payments.read',
    isUnattended: true,
    description: 'paid and not credited, or without an end after the payer’s hour',
    run: listStuckOrders,
  },
  {
    usage: 'orders check <order>',
    permission: 'checks.run',
    readsPersonalData: true,
    description: 'ask the provider about one order, and credit it if it was paid',
    run: checkOrder,
  },
  {
    usage: 'receipts list',
    permission: 'payments.read',
    readsPersonalData: true,
    description: 'receipts that the provider could not register, oldest first',
    run: listReceipts,
  },
  {
    usage: 'receipts retry <order>',
    permission: 'payments.decide',
    readsPersonalData: true,
    description: 'make the failed receipts of an order again now',
    run: retryReceipts,
  },
  {
    usage: 'receipts dismiss <order>',
    permission: 'payments.decide',
    readsPersonalData: true,
    description: 'a person has dealt with a failed receipt',
    options: [NOTE],
    run: dismissReceipt,
  },
  {
    usage: 'reviews list',
    permission: 'payments.read',
    isUnattended: true,
    description: 'what waits, oldest first',
    run: listReviews,
  },
  {
    usage: 'reviews resolve <id> <decision>',
    permission: 'payments.decide',
    description: 'credit, refund or dismiss; once',
    options: [NOTE],
    run: resolveReview,
  },
  {
    usage: 'signals',
    permission: 'payments.read',
    readsPersonalData: true,
    description: 'what accounts of one person often share: cards, banks, refunds, tried codes',
    options: [['--days <n>', 'of how many days; 30 without it']],
    run: listSignals,
  },
  {
    usage: 'disputes list',
    permission: 'payments.read',
    isUnattended: true,
    description: 'open ones first, those that end first at the top',
    run: listDisputes,
  },
  {
    usage: 'disputes open <order>',
    permission: 'payments.decide',
    readsPersonalData: true,
    description: 'a payer went to the bank: set the unspent part aside',
    options: [
      NOTE,
      ['--amount <roubles>', 'a part of the price'],
      ['--until <day>', 'the bank accepts evidence to the end of this day, UTC; else five days'],
      ['--block', 'stop the whole account too'],
    ],
    run: openDispute,
  },
  {
    usage: 'disputes evidence <dispute>',
    permission: 'customers.read',
    readsPersonalData: true,
    description: 'the file for the bank, as one HTML page that prints well',
    options: [['--language <name>', 'ru (default) or en']],
    run: printEvidence,
  },
  {
    usage: 'disputes won <order>',
    permission: 'payments.decide',
    readsPersonalData: true,
    description: 'the bank decided for us',
    options: [NOTE],
    run: winDispute,
  },
  {
    usage: 'disputes lost <order>',
    permission: 'payments.decide',
    readsPersonalData: true,
    description: 'the bank took the money',
    options: [NOTE],
    run: loseDispute,
  },
]
