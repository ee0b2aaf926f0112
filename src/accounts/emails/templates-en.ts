// E-mails to owners in English. Plain sentences, the reason first, then what to do.
import type { EmailContent } from '../../platform/mail/email.ts'
import type { EmailFacts, EmailTemplates, EventContext, TemplateContext } from './email-kinds.ts'
import { englishRecovery } from './recovery-en.ts'

export const english: EmailTemplates = {
  shared: {
    locale: 'en-GB',
  },
  templates: {
    'confirm-email': ({ link, hours }, { brand }) => ({
      subject: `Confirm your e-mail address for ${brand}`,
      lines: [
        `This address was used to sign up for ${brand}.`,
        'To create your account, open the link. Another browser asks for your password.',
      ],
      button: { label: 'Confirm address', link },
      more: [
        `The link expires in ${hours} hours.`,
        'If this was not you, ignore this e-mail: no account will be created.',
      ],
    }),
    invitation: ({ link, hours }, { brand }) => ({
      subject: `Your account at ${brand}: set a password`,
      lines: [
        `${brand} has prepared an account for this address.`,
        'To create it, open the link, choose a password and accept the documents.',
      ],
      button: { label: 'Create account', link },
      more: [
        `The link works once and expires in ${hours / 24} days.`,
        'If you did not expect this, ignore this e-mail: no account will be created.',
      ],
    }),
    'already-registered': ({ signInLink, resetLink }, { brand }) => ({
      subject: `Your ${brand} account already exists`,
      lines: [
        'Someone, possibly you, tried to sign up with this address or to use it as the new ' +
          'address of an account. You already have an account with this address.',
        'Nothing has changed. Sign in as usual.',
      ],
      button: { label: 'Sign in', link: signInLink },
      more: [
        `If you have forgotten your password, reset it: ${resetLink}`,
        'If this was not you, ignore this e-mail.',
      ],
    }),
    'reset-password': ({ link, minutes }, { brand }) => ({
      subject: `Reset your ${brand} password`,
      lines: [
        'A password reset was requested for your account. Open the link to set a new password.',
      ],
      button: { label: 'Set new password', link },
      more: [
        `The link works once and expires in ${minutes} minutes. Changing the password ends all ` +
          'sessions.',
        'If this was not you, ignore this e-mail: your password stays the same.',
      ],
    }),
    'password-guessed': (facts, context) => ({
      subject: `Someone is trying to guess your ${context.brand} password`,
      lines: [
        'There were too many sign-in attempts with the wrong password, ' +
          `the last one ${whenAndWhere(facts, context)}.`,
        `Sign-ins from unknown browsers are blocked for ${facts.minutes} minutes. ` +
          'Browsers you have used before are not affected.',
      ],
      more: [
        'Turn on two-factor authentication, so that a guessed password is not enough: ' +
          context.securityLink,
      ],
    }),
    'new-device': (facts, context) =>
      event(facts, context, {
        subject: `New sign-in to your ${context.brand} account`,
        line: 'We noticed a sign-in to your account from a new browser',
      }),
    'password-changed': (facts, context) =>
      event(facts, context, {
        subject: `Your ${context.brand} password was changed`,
        line: 'Your account password was changed',
        also: 'All other sessions have ended.',
      }),
    'email-change-asked': (facts, context) =>
      event(facts, context, {
        subject: `Your ${context.brand} e-mail address is about to change`,
        line:
          `A change of your e-mail address from ${facts.oldEmail} to ${facts.newEmail} was ` +
          'requested',
        also: 'The address changes once the new one is confirmed.',
      }),
    'confirm-new-email': ({ link, minutes }, { brand }) => ({
      subject: `Confirm your new ${brand} e-mail address`,
      lines: [
        `This address was entered as the new e-mail address of a ${brand} account. To confirm ` +
          'it, open the link while signed in to that account.',
      ],
      button: { label: 'Confirm new address', link },
      more: [
        `The link works once and expires in ${minutes} minutes. If this was not you, ignore this ` +
          'e-mail.',
      ],
    }),
    'email-changed': (facts, context) =>
      event(facts, context, {
        subject: `Your ${context.brand} e-mail address was changed`,
        line:
          `The e-mail address of your account was changed from ${facts.oldEmail} to ` +
          facts.newEmail,
      }),
    'email-change-undo': (facts, context) => ({
      subject: `Undo the change of your ${context.brand} e-mail address`,
      lines: [
        `The e-mail address of your account was changed from ${facts.oldEmail} to ` +
          `${facts.newEmail} ${whenAndWhere(facts, context)}.`,
        'If this was you, no action is needed.',
        'If this was not you, undo the change: the account gets this address back, all sessions ' +
          'end, and we send you a link to set a new password.',
      ],
      button: { label: 'Undo the change', link: facts.link },
      more: [`The link works once, until ${context.time(facts.untilMs)}.`],
    }),
    'email-change-undone': (facts, context) => ({
      subject: `The change of your ${context.brand} e-mail address was undone`,
      lines: [
        `The account has the address ${facts.oldEmail} again, and no longer ${facts.newEmail}. ` +
          `The change was undone ${whenAndWhere(facts, context)} with the link that we sent to ` +
          `${facts.oldEmail}.`,
        'All sessions have ended, and the old password no longer works. We sent a link to set a ' +
          `new one to ${facts.oldEmail}.`,
      ],
    }),
    'email-reserved': ({ untilMs }, { brand, time }) => ({
      subject: `This address cannot be used for ${brand} yet`,
      lines: [
        `Someone, possibly you, tried to use this address for a ${brand} account. An account had ` +
          `it until recently and can take it back until ${time(untilMs)}.`,
        'After that you can sign up with it. If this was not you, ignore this e-mail.',
      ],
    }),
    'second-factor-on': (facts, context) =>
      event(facts, context, {
        subject: `Two-factor authentication is now on for ${context.brand}`,
        line: 'Two-factor authentication was turned on for your account',
        also: 'To sign in with your password, you now also need a code from the authenticator app.',
      }),
    'second-factor-off': (facts, context) =>
      event(facts, context, {
        subject: `Two-factor authentication is now off for ${context.brand}`,
        line: 'Two-factor authentication was turned off for your account',
        also: 'Your password alone is now enough to sign in.',
      }),
    'recovery-code-used': (facts, context) =>
      event(facts, context, {
        subject: `A recovery code for your ${context.brand} account was used`,
        line: 'A recovery code was used instead of the app code for your account',
      }),
    'passkey-added': (facts, context) =>
      event(facts, context, {
        subject: `A passkey was added to your ${context.brand} account`,
        line: `A passkey${named(facts.name)} was added to your account`,
        also: 'It can be used to sign in.',
      }),
    'passkey-removed': (facts, context) =>
      event(facts, context, {
        subject: `A passkey was removed from your ${context.brand} account`,
        line: `A passkey${named(facts.name)} was removed from your account`,
        also: 'It can no longer be used to sign in.',
      }),
    'key-created': (facts, context) =>
      event(facts, context, {
        subject: `Your ${context.brand} API key was created`,
        line: `An API key ending in ${facts.last4} was created`,
      }),
    'key-reissued': (facts, context) =>
      event(facts, context, {
        subject: `Your ${context.brand} API key was reissued`,
        line: 'Your API key was reissued',
        also: `The new key ends in ${facts.last4}. The old one no longer works.`,
      }),
    'key-revoked': (facts, context) =>
      event(facts, context, {
        subject: `Your ${context.brand} API key was revoked`,
        line: `The API key ending in ${facts.last4} was revoked`,
        also: 'It no longer works.',
      }),
    ...englishRecovery,
    'account-closing': closing,
    'account-closing-stopped': closingStopped,
    'account-closed': closed,
  },
}

function whenAndWhere({ atMs, address, device }: EventContext, context: TemplateContext): string {
  const from = [device, address].filter((part) => part !== '').join(', ')
  return `on ${context.time(atMs)}${from === '' ? '' : ` (${from})`}`
}

function event(
  facts: EventContext,
  context: TemplateContext,
  { subject, line, also }: { readonly subject: string; readonly line: string; also?: string },
): EmailContent {
  return {
    subject,
    lines: [
      also === undefined ? `${line}.` : `${line}. ${also}`,
      'If this was you, no action is needed.',
    ],
    facts: [
      ['Time', context.time(facts.atMs)],
      ['Browser', facts.device],
      ['IP address', facts.address],
    ],
    button: { label: 'This was not me', link: context.securityLink },
    more: ['If this was not you, change your password and end all other sessions immediately.'],
  }
}

function named(name: string): string {
  return name === '' ? '' : ` called “${name}”`
}

function closing(
  { atMs, unspent, begunBy }: EmailFacts['account-closing'],
  { brand, securityLink, time }: TemplateContext,
): EmailContent {
  // Only the owner who began it can stop it.
  const isOwn = begunBy === 'owner'
  const begun = isOwn
    ? `You asked us to close your account on ${time(atMs)}.`
    : `We began to close your account on ${time(atMs)}.`
  return {
    subject: `Your ${brand} account is being closed`,
    lines: [
      `${begun} Requests with its API key are rejected from now on.`,
      'Requests that are already running will finish, and open payment links will expire first.',
      unspent === 'refund'
        ? 'Then we will refund your unspent credits. You will get an e-mail about each refund.'
        : 'Then the credits left on your balance will be forfeited.',
      'Until the account is closed you can sign in and follow each step in the settings.',
    ],
    ...(isOwn && { button: { label: 'This was not me', link: securityLink } }),
    more: [
      isOwn
        ? 'If this was not you, change your password and stop the closing immediately.'
        : 'If you do not agree, contact us immediately at the address below.',
    ],
  }
}

function closingStopped(_: object, { brand }: TemplateContext): EmailContent {
  return {
    subject: `Your ${brand} account stays open`,
    lines: [
      'You stopped the closing of your account. Your credits are untouched.',
      'An API key that you had stays revoked. You can create a new one in your account.',
    ],
    more: ['If this was not you, contact us immediately at the address below.'],
  }
}

function closed(
  facts: EmailFacts['account-closed'],
  { brand, time, day }: TemplateContext,
): EmailContent {
  return {
    subject: `Your ${brand} account is closed`,
    lines: [
      `Your account was closed on ${time(facts.atMs)}, and its API key no longer works.`,
      facts.unspent === 'refund'
        ? 'What could be refunded was refunded; each refund has an e-mail of its own.'
        : 'Any credits left on your balance were forfeited.',
      'Payment records are kept as required by law. ' +
        `Your personal data will be erased on ${day(facts.eraseAtMs)}.`,
    ],
    more: ['If this was not you, contact us immediately at the address below.'],
  }
}
