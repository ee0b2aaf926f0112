// The dialog of a command, in English.
import type { Same } from '../../words/ru/ru.ts'
import type { command as ru } from './ru-command.ts'

export const command: Same<typeof ru> = {
  plan: 'Show what will happen',
  planLabel: 'What will happen',
  back: 'Back',
  changed: 'Something changed while you were reading. Nothing was done; this would happen now.',
  reason: 'Reason',
  reasonHint: 'It stays in the list of acts.',
  credits: 'Credits',
  roubles: 'Amount, RUB',
  allHint: 'Everything that is unspent, if you leave it empty.',
  state: {
    done: 'Done',
    nothing: 'Nothing was changed',
    asked: 'A second person has to approve it',
  },
  grant: { button: 'Grant credits', title: 'Grant promo credits', submit: 'Grant' },
  adjust: { button: 'Adjust balance', title: 'Adjust the balance', submit: 'Adjust' },
  refund: { button: 'Refund', title: 'Refund an order', submit: 'Refund' },
  revoke: { button: 'Revoke key', title: 'Revoke the key', submit: 'Revoke key' },
  suspend: { button: 'Suspend', title: 'Suspend the account', submit: 'Suspend' },
  unsuspend: { button: 'Resume', title: 'Resume the account', submit: 'Resume' },
  reviewCredit: { button: 'Credit', title: 'Credit the pack of this payment', submit: 'Credit' },
  reviewRefund: { button: 'Refund', title: 'Refund the whole payment', submit: 'Refund' },
  reviewDismiss: {
    button: 'Dismiss',
    title: 'Neither credit nor refund it',
    submit: 'Dismiss',
  },
  disputeWon: { button: 'Won', title: 'The bank decided for us', submit: 'Record' },
  disputeLost: { button: 'Lost', title: 'The bank charged it back', submit: 'Record' },
  drain: { button: 'Drain', title: 'Send no new requests here', submit: 'Drain' },
  undrain: { button: 'Undrain', title: 'Send requests here again', submit: 'Undrain' },
  approve: { button: 'Approve', title: 'Approve and run it', submit: 'Approve' },
  sealMonth: { button: 'Seal', title: 'Seal the month for good', submit: 'Seal' },
  catalogueSet: { button: 'Apply', title: 'Apply these prices', submit: 'Apply' },
  rollBack: {
    button: 'Roll back to it',
    title: 'Put these prices in force again',
    submit: 'Apply',
  },
  decline: { button: 'Decline', title: 'Decline or withdraw the request', submit: 'Decline' },
}
