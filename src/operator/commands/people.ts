// Commands about operators themselves: signing in, who they are, tokens, and approvals.
import { approve, decline, listApprovals, showApproval } from '../people/approvals.ts'
import { acceptInvitation, login, logout, whoami } from '../people/login.ts'
import {
  changeRole,
  disableOperator,
  enableOperator,
  inviteOperator,
  listOperators,
  resetOperator,
} from '../people/people.ts'
import { createToken, listTokens, revokeToken } from '../people/tokens.ts'
import { type OperatorCommand, REASON } from './command.ts'

const ROLE = ['--role <role>', 'viewer, support, finance or admin', 'needed'] as const

export const peopleCommands: readonly OperatorCommand[] = [
  {
    usage: 'login',
    permission: null,
    description: 'sign in with e-mail, password and code; the session is kept in a file',
    run: login,
  },
  { usage: 'logout', permission: null, description: 'end the session of this file', run: logout },
  {
    usage: 'whoami',
    permission: 'self.use',
    isUnattended: true,
    description: 'who acts, and with which role',
    run: whoami,
  },
  {
    usage: 'operators list',
    permission: 'operators.read',
    description: 'everybody, with role, state and factors',
    run: listOperators,
  },
  {
    usage: 'operators create <email>',
    permission: 'operators.change',
    description: 'invite a person; prints a one-time code. The first one needs no login',
    options: [ROLE, ['--name <name>', 'for records; the mailbox without it']],
    run: inviteOperator,
  },
  {
    usage: 'operators accept',
    permission: null,
    description: 'set password and second factor with a one-time code',
    run: acceptInvitation,
  },
  {
    usage: 'operators disable <operator>',
    permission: 'operators.change',
    description: 'nobody signs in with it any more; sessions end',
    run: disableOperator,
  },
  {
    usage: 'operators enable <operator>',
    permission: 'operators.change',
    description: 'let a disabled operator sign in again',
    run: enableOperator,
  },
  {
    usage: 'operators role <operator> <role>',
    permission: 'operators.change',
    description: 'change what an operator may do, also in open sessions',
    run: changeRole,
  },
  {
    usage: 'operators reset <operator>',
    permission: 'operators.change',
    description: 'take password, factors and sessions away; prints a new code',
    run: resetOperator,
  },
  {
    usage: 'tokens list',
    permission: 'operators.read',
    description: 'unattended tokens, newest first',
    run: listTokens,
  },
  {
    usage: 'tokens create <name>',
    permission: 'operators.change',
    description: 'a token for scheduled commands; printed once',
    options: [ROLE, ['--days <n>', 'how long it lasts', 'needed']],
    run: createToken,
  },
  {
    usage: 'tokens revoke <token>',
    permission: 'operators.change',
    description: 'end a token, by name or id',
    run: revokeToken,
  },
  {
    usage: 'approvals list',
    permission: 'approvals.read',
    readsPersonalData: true,
    description: 'what waits for a second person, then what was decided',
    run: listApprovals,
  },
  {
    usage: 'approvals show <approval>',
    permission: 'approvals.read',
    readsPersonalData: true,
    description: 'one request with its plan',
    run: showApproval,
  },
  {
    usage: 'approvals approve <approval>',
    permission: 'approvals.read',
    readsPersonalData: true,
    description: 'run what another person asked for, if its plan is still the same',
    run: approve,
  },
  {
    usage: 'approvals decline <approval>',
    permission: 'approvals.read',
    readsPersonalData: true,
    description: 'do not let it run; your own request is taken back',
    options: [REASON],
    run: decline,
  },
]
