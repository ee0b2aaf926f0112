// Everything the console says in English; the keys are those of ru.ts.
import { account } from '../../words/en/account.ts'
import { errors } from '../../words/en/errors.ts'
import { frame } from '../../words/en/frame.ts'
import type { Same } from '../../words/ru/ru.ts'
import { catalogue } from './en-catalogue.ts'
import { command } from './en-command.ts'
import { health } from './en-health.ts'
import { month } from './en-month.ts'
import { own } from './en-own.ts'
import { pages } from './en-pages.ts'
import { figureRows, queueCommands, queues } from './en-queues.ts'
import type { ru } from './ru.ts'

export const en: Same<typeof ru> = {
  ...frame,
  ...account,
  errors: {
    ...errors,
    permission_missing: 'Your role does not allow this.',
    thing_unknown: 'There is no such thing. Check the ID for a typing error.',
    command_refused: 'The command was not carried out.',
    command_unknown: 'The console does not run this command. Run it in a terminal: op.',
    sign_in_throttled: 'Too many attempts to sign in.',
    operator_session_missing: 'Your session has ended. Sign in again.',
    second_factor_missing: 'Confirm the sign-in with a code or a passkey first.',
    second_factor_not_set_up: 'No authenticator app is set up yet.',
    invitation_wrong: 'This invitation code was used or has expired. Ask for a new one.',
    operator_password_weak: 'The password is too short or too common.',
    password_checks_overloaded:
      'Too many people are signing in right now. Try again in a few seconds.',
    oidc_sign_in_refused:
      'This sign-in was not accepted. Your address must be that of an operator and verified.',
    oidc_unavailable: 'The identity provider does not respond. Sign in with your password.',
    operator_passkey_wrong: 'Signing in with the passkey did not work. Try again.',
  },
  console: {
    ...{ ...pages, ...catalogue, ...health, month, own, queues, figureRows },
    command: { ...command, ...queueCommands },
  },
}
