// Commands for owners who cannot get in: identity steps, recoveries, locks.
import { checkIdentity } from '../recovery/identity.ts'
import { beginRecovery, showRecovery, stopRecovery, unlock } from '../recovery/recovery.ts'
import { type OperatorCommand, REASON } from './command.ts'

export const recoveryCommands: readonly OperatorCommand[] = [
  {
    usage: 'recover check <whom>',
    permission: 'customers.change',
    readsPersonalData: true,
    description: 'compare what a person says with what we know; keeps only whether it matched',
    options: [
      ['--payment', 'amount and day of a recent payment'],
      ['--card', 'last four digits of the saved card'],
      ['--request', 'the id of a request of the last days'],
      ['--key', 'the whole key in force'],
    ],
    run: checkIdentity,
  },
  {
    usage: 'recover begin <whom>',
    permission: 'customers.change',
    readsPersonalData: true,
    description: 'begin the wait for a lost mailbox, a lost authenticator, or both',
    options: [
      REASON,
      ['--mailbox <address>', 'the new address; it confirms first'],
      ['--authenticator', 'remove the second factor after the wait'],
      ['--compromised', 'others may know the key: revoke it now'],
    ],
    run: beginRecovery,
  },
  {
    usage: 'recover show <whom>',
    permission: 'customers.read',
    readsPersonalData: true,
    description: 'recoveries of an account: steps, warnings, how they ended',
    run: showRecovery,
  },
  {
    usage: 'recover stop <whom>',
    permission: 'customers.change',
    readsPersonalData: true,
    description: 'end a recovery that waits; the owner gets an e-mail',
    options: [REASON],
    run: stopRecovery,
  },
  {
    usage: 'unlock <whom>',
    permission: 'customers.change',
    readsPersonalData: true,
    description: 'why an owner is locked out; forget wrong passwords and codes',
    options: [REASON],
    run: unlock,
  },
]
