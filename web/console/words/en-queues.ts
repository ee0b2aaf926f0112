// Queues, the rows of a figure, and the commands that belong to them, in English.
import type { Same } from '../../words/ru/ru.ts'
import type * as ru from './ru-queues.ts'

export const queues: Same<typeof ru.queues> = {
  title: 'Queues',
  lead: 'Everything that waits for a person.',
  empty: 'Nothing waits.',
  approvals: 'Approvals: {{number}}',
  approvalsHint:
    'Another person approves, not the one who asked. If the plan changed, it does not run.',
  own: 'Your request',
  until: 'Valid until',
  takeBack: 'Withdraw',
  interrupted: 'Interrupted',
  interruptedHint:
    'The command began and never ended. See in the acts what it did, then close the request.',
  close: 'Close request',
  reviews: 'Payments under review: {{number}}',
  paid: 'Paid',
  unpaid: 'Not paid',
  disputes: 'Open disputes: {{number}}',
  disputesHint:
    'The provider reports a bank’s dispute by e-mail. Search for the payment and open the ' +
    'dispute on the account’s page. The one that ends first is first.',
  answerBy: 'Answer by',
  overdue: 'Overdue',
  reserved: 'Credits on hold:',
  evidence: 'File for the bank',
  stuckOrders: 'Stuck orders: {{number}}',
  stuckOrdersHint: 'Paid and not credited, or without an end an hour after they were made.',
  paidAt: 'Paid at the provider',
  receipts: 'Failed receipts: {{number}}',
  receiptsHint:
    'The money has moved, the receipt is not registered. It is made again by itself; if that ' +
    'fails, make it in the provider’s portal and note that here.',
  receiptKinds: { prepayment: 'Prepayment', completion: 'Completion', return: 'Return' },
  receiptAgain: 'Next attempt:',
  receiptByHand: 'No further attempts: this one is yours.',
  creditedAt: 'Credited',
  quarantine: 'Quarantine: {{number}}',
  quarantineHint: 'The database refused these charges. They are sent again by themselves.',
  registrations: 'Registrations without confirmation: {{number}}',
  registrationsHint:
    'The newest. The account is made when the person opens the link; older than a week after the ' +
    'link has expired, they are forgotten.',
  invited: 'Invited by an operator.',
  linkExpired: 'Link expired',
  letters: 'E-mails not sent: {{number}}',
  lettersHint:
    'The mail server refused them today, or asked to wait. The text of an undelivered e-mail is ' +
    'deleted: only one that waits can be sent again.',
  signals: 'Signals: {{number}}',
  signalsHint: 'Of 30 days. A reason to look, not to refuse: families share cards.',
  signal: {
    card: 'One card',
    bank: 'One bank and promo code',
    refunds: 'Many refunds',
    tries: 'Guessed promo codes',
  },
}

export const figureRows: Same<typeof ru.figureRows> = {
  lead: 'The rows that the figure is made of, from midnight to midnight ({{zone}}).',
  leadNow: 'Balances of this moment.',
  back: 'Today',
  day: 'Day',
  total: 'Total',
  count: 'Rows',
  none: 'There are no rows on this day.',
  what: 'What',
  state: 'Status',
  account: 'Account',
  when: 'When',
  amount: 'Amount',
  lot: {
    paid: 'Purchase',
    promo: 'Promo credits',
    correction: 'Adjustment',
    transfer: 'Transfer',
    debt: 'Debt',
  },
}

export const queueCommands: Same<typeof ru.queueCommands> = {
  until: 'Answer the bank by',
  untilHint: 'The day in the provider’s e-mail. Five days, if you leave it empty.',
  disputeOpen: {
    button: 'Open dispute',
    title: 'The buyer went to the bank',
    submit: 'Open dispute',
  },
  orderCheck: {
    button: 'Ask the provider',
    title: 'What the provider says about the payment',
    submit: 'Apply',
  },
  receiptRetry: {
    button: 'Make again',
    title: 'Make the receipt again',
    submit: 'Make again',
  },
  receiptDismiss: {
    button: 'Receipt made',
    title: 'The receipt is dealt with',
    submit: 'Record',
  },
  quarantineRetry: { button: 'Send now', title: 'Send the charge again', submit: 'Send' },
  quarantineWriteOff: { button: 'Write off', title: 'Give the charge up', submit: 'Write off' },
  invite: {
    button: 'Invite as a customer',
    title: 'Invite a customer',
    submit: 'Send the invitation',
  },
  registrationResend: { button: 'Send again', title: 'Send the link again', submit: 'Send' },
  registrationDelete: {
    button: 'Delete',
    title: 'Delete the registration',
    submit: 'Delete',
  },
  letterRetry: { button: 'Send now', title: 'Send the e-mail again', submit: 'Send' },
}
