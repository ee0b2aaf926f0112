// E-mails in English about recovering an account whose owner lost the authenticator or the mailbox.
import type { EmailContent } from '../../platform/mail/email.ts'
import type { EmailFacts, EmailTemplates, TemplateContext } from './email-kinds.ts'

type RecoveryKinds = Extract<keyof EmailFacts, `recovery-${string}`>
type Templates = Pick<EmailTemplates['templates'], Exclude<RecoveryKinds, 'recovery-code-used'>>
type Facts = EmailFacts['recovery-opened']

export const englishRecovery: Templates = {
  'recovery-link': ({ link, minutes }, { brand }) => ({
    subject: `Recover your ${brand} account`,
    lines: [
      'Someone entered your password and said that the authenticator app and the recovery codes ' +
        'are lost. If this was you, open the link and enter your password.',
    ],
    button: { label: 'Recover account', link },
    more: [
      `The link expires in ${minutes} minutes.`,
      'If this was not you, someone knows your password: change it now. Nothing happens without ' +
        'this link.',
    ],
  }),
  'recovery-confirm': ({ link, lost, hours, waitHours }, { brand }) => ({
    subject: `Confirm the recovery of your ${brand} account`,
    lines: [
      'Our support began to recover an account at your request. ' +
        [
          ...(lost === 'authenticator' ? [] : ['This address becomes the address of the account.']),
          ...(lost === 'mailbox' ? [] : ['Two-factor authentication will be turned off.']),
        ].join(' '),
      `After you confirm, the recovery waits ${waitHours} hours, and we warn the owner in every ` +
        'mailbox that we know. We send another e-mail when you can complete it.',
    ],
    button: { label: 'Confirm', link },
    more: [`The link expires in ${hours} hours. If this was not you, ignore this e-mail.`],
  }),
  'recovery-opened': (facts, context) => warning(facts, context, 'was requested'),
  'recovery-reminder': (facts, context) => reminder(warning(facts, context, 'is still waiting')),
  'recovery-ready': ({ link, lost, untilMs }, { brand, time }) => ({
    subject: `You can now complete the recovery of your ${brand} account`,
    lines: [
      'The waiting time is over and nobody has stopped the recovery.',
      lost === 'authenticator'
        ? 'Sign in with your password and choose “I have lost my authenticator” again.'
        : 'Open the link to complete it. Then set a new password.',
    ],
    button: { label: lost === 'authenticator' ? 'Sign in' : 'Complete recovery', link },
    more: [`This is possible until ${time(untilMs)}.`],
  }),
  'recovery-done': (facts, { brand, time }) => ({
    subject: `Two-factor authentication was removed from your ${brand} account`,
    lines: [
      `The recovery of your account was completed on ${time(facts.atMs)}: two-factor ` +
        'authentication is off, and all sessions have ended.',
      'If this was you, sign in and set up a new authenticator app.',
      'If this was not you, undo it: two-factor authentication is on again, all sessions ' +
        'end, and the password stops working until you set a new one.',
    ],
    button: { label: 'Undo the recovery', link: facts.link },
    more: [`The link works until ${time(facts.untilMs)}.`],
  }),
  'recovery-stopped': (facts, { brand, time }) => ({
    subject: `The recovery of your ${brand} account was stopped`,
    lines: [
      `The recovery was stopped on ${time(facts.atMs)}. The account stays as it was.`,
      'If you did not ask for the recovery, someone may know your password or read your e-mail: ' +
        'change the password.',
    ],
  }),
}

/** With a subject of its own: mail programs would hide it behind the first warning. */
function reminder(email: EmailContent): EmailContent {
  return { ...email, subject: email.subject.replace('Someone', 'Reminder: someone') }
}

function warning(facts: Facts, { brand, time }: TemplateContext, what: string) {
  return {
    subject: `Someone is recovering your ${brand} account`,
    lines: [
      `A recovery of your account ${what}: ${effect(facts)}.`,
      `It can be completed after ${time(facts.untilMs)}. If this was you, no action is needed.`,
      'If this was not you, stop it now. You need not sign in.',
    ],
    button: { label: 'Stop the recovery', link: facts.link },
    more: [
      'Signing in with your authenticator app, a recovery code or a passkey stops it too.',
      'We ask nobody for this link or for a code from this e-mail.',
    ],
  }
}

function effect({ lost, newEmail }: Facts): string {
  if (lost === 'authenticator') return 'two-factor authentication will be turned off'
  const moved = `its e-mail address will be replaced by ${newEmail}`
  return lost === 'both' ? `${moved}, and two-factor authentication will be turned off` : moved
}
