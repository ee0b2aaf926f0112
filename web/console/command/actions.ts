// The actions that pages offer: which command of the desk each runs, with which fields, and the
// permission without which it is not shown.

export type FieldName = 'amount' | 'until' | 'reason'
type Values = Readonly<Record<FieldName, string>>

type Command = {
  readonly command: string
  readonly args: string[]
  readonly options: Record<string, string | true>
}

export type ActionName =
  | 'grant'
  | 'adjust'
  | 'refund'
  | 'revoke'
  | 'suspend'
  | 'unsuspend'
  | 'close'
  | 'erase'
  | 'unlock'
  | 'recoverStop'
  | 'reviewCredit'
  | 'reviewRefund'
  | 'reviewDismiss'
  | 'disputeOpen'
  | 'disputeWon'
  | 'disputeLost'
  | 'orderCheck'
  | 'receiptRetry'
  | 'receiptDismiss'
  | 'quarantineRetry'
  | 'quarantineWriteOff'
  | 'letterRetry'
  | 'invite'
  | 'registrationResend'
  | 'registrationDelete'
  | 'drain'
  | 'undrain'
  | 'rollBack'
  | 'approve'
  | 'decline'
  | 'sealMonth'

export type Action = {
  readonly name: ActionName | 'catalogueSet'
  readonly permission: string
  readonly amount: 'none' | 'needed' | 'optional'
  readonly unit: 'credits' | 'roubles'
  /** Asks for a day, which may be left out. */
  readonly hasUntil?: true
  readonly hasReason: boolean
  readonly tone: 'main' | 'danger'
  command(subject: string, values: Values, ref: string): Command
}

type Shape = Pick<Action, 'name' | 'permission'> & Partial<Pick<Action, 'tone'>>

/** A command about one thing with a reason, which is an option of this name. */
function reasoned(
  shape: Shape,
  words: string,
  option: 'reason' | 'note',
  ...more: string[]
): Action {
  return {
    ...{ amount: 'none', unit: 'credits', hasReason: true, tone: 'main', ...shape },
    command: (subject, { reason }) => ({
      ...{ command: words, args: [subject, ...more], options: { [option]: reason.trim() } },
    }),
  }
}

/** A command about one thing that says by itself why. */
function bare(shape: Shape, words: string): Action {
  return {
    ...{ amount: 'none', unit: 'credits', hasReason: false, tone: 'main', ...shape },
    command: (subject) => ({ command: words, args: [subject], options: {} }),
  }
}

function credits(name: 'grant' | 'adjust', permission: string): Action {
  return {
    ...{ name, permission, amount: 'needed', unit: 'credits', hasReason: true, tone: 'main' },
    command: (subject, { amount, reason }, ref) => ({
      ...{ command: name, args: [subject, amount.trim()] },
      options: { reason: reason.trim(), ref },
    }),
  }
}

export const PRICES = 'prices.change'

/** Changes fields of the catalogue, after a form has asked for them. */
export function catalogueSet(changes: string[], options: Command['options']): Action {
  return {
    ...{ name: 'catalogueSet', permission: PRICES, amount: 'none', unit: 'credits' },
    ...{ hasReason: false, tone: 'main' },
    command: () => ({ command: 'catalogue set', args: changes, options }),
  }
}

const CUSTOMERS = { permission: 'customers.change' } as const
const DECIDE = { permission: 'payments.decide' } as const
const INSTALLATION = { permission: 'installation.change' } as const
const DRAIN = { permission: 'upstreams.drain' } as const
const APPROVE = { permission: 'approvals.read' } as const

export const actions: Readonly<Record<ActionName, Action>> = {
  grant: credits('grant', 'credits.grant'),
  adjust: credits('adjust', 'credits.adjust'),
  refund: {
    ...{ name: 'refund', permission: 'payments.refund', amount: 'optional', unit: 'roubles' },
    ...{ hasReason: true, tone: 'main' },
    command: (subject, { amount, reason }, ref) => ({
      ...{ command: 'refund', args: [subject] },
      options: {
        ...{ reason: reason.trim(), ref },
        ...(amount.trim() !== '' && { amount: amount.trim() }),
      },
    }),
  },
  revoke: reasoned({ name: 'revoke', tone: 'danger', ...CUSTOMERS }, 'revoke', 'reason'),
  suspend: reasoned({ name: 'suspend', tone: 'danger', ...CUSTOMERS }, 'suspend', 'reason'),
  unsuspend: reasoned({ name: 'unsuspend', ...CUSTOMERS }, 'unsuspend', 'reason'),
  close: reasoned({ name: 'close', tone: 'danger', ...DECIDE }, 'close', 'reason'),
  erase: reasoned(
    { name: 'erase', permission: 'customers.papers', tone: 'danger' },
    ...(['erase', 'reason'] as const),
  ),
  unlock: reasoned({ name: 'unlock', ...CUSTOMERS }, 'unlock', 'reason'),
  recoverStop: reasoned({ name: 'recoverStop', ...CUSTOMERS }, 'recover stop', 'reason'),
  reviewCredit: reasoned({ name: 'reviewCredit', ...DECIDE }, 'reviews resolve', 'note', 'credit'),
  reviewRefund: reasoned({ name: 'reviewRefund', ...DECIDE }, 'reviews resolve', 'note', 'refund'),
  reviewDismiss: reasoned(
    { name: 'reviewDismiss', tone: 'danger', ...DECIDE },
    ...(['reviews resolve', 'note', 'dismiss'] as const),
  ),
  disputeOpen: {
    ...{ name: 'disputeOpen', ...DECIDE, amount: 'optional', unit: 'roubles', hasUntil: true },
    ...{ hasReason: true, tone: 'danger' },
    command: (subject, { amount, until, reason }) => ({
      ...{ command: 'disputes open', args: [subject] },
      options: {
        note: reason.trim(),
        ...(amount.trim() !== '' && { amount: amount.trim() }),
        ...(until !== '' && { until }),
      },
    }),
  },
  disputeWon: reasoned({ name: 'disputeWon', ...DECIDE }, 'disputes won', 'note'),
  disputeLost: reasoned(
    { name: 'disputeLost', tone: 'danger', ...DECIDE },
    ...(['disputes lost', 'note'] as const),
  ),
  orderCheck: bare({ name: 'orderCheck', permission: 'checks.run' }, 'orders check'),
  receiptRetry: bare({ name: 'receiptRetry', ...DECIDE }, 'receipts retry'),
  receiptDismiss: reasoned({ name: 'receiptDismiss', ...DECIDE }, 'receipts dismiss', 'note'),
  quarantineRetry: bare({ name: 'quarantineRetry', ...INSTALLATION }, 'quarantine retry'),
  quarantineWriteOff: reasoned(
    { name: 'quarantineWriteOff', tone: 'danger', ...INSTALLATION },
    ...(['quarantine write-off', 'reason'] as const),
  ),
  letterRetry: bare({ name: 'letterRetry', ...CUSTOMERS }, 'mail retry'),
  invite: reasoned({ name: 'invite', ...CUSTOMERS }, 'accounts create', 'reason'),
  registrationResend: bare({ name: 'registrationResend', ...CUSTOMERS }, 'registrations resend'),
  registrationDelete: reasoned(
    { name: 'registrationDelete', tone: 'danger', ...CUSTOMERS },
    ...(['registrations delete', 'reason'] as const),
  ),
  drain: bare({ name: 'drain', tone: 'danger', ...DRAIN }, 'upstreams drain'),
  undrain: bare({ name: 'undrain', ...DRAIN }, 'upstreams undrain'),
  rollBack: reasoned({ name: 'rollBack', permission: PRICES }, 'catalogue rollback', 'note'),
  approve: bare({ name: 'approve', ...APPROVE }, 'approvals approve'),
  sealMonth: reasoned({ name: 'sealMonth', permission: 'month.seal' }, 'month seal', 'reason'),
  decline: reasoned({ name: 'decline', tone: 'danger', ...APPROVE }, 'approvals decline', 'reason'),
}
