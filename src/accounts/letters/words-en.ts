// Letters to owners in English. Plain sentences, the reason first, then what to do.
import type { Sentences } from '../../platform/mail/letter.ts'
import type { Circumstances, Facts, Setting, Words } from './notice.ts'

export const english: Words = {
  frame: {
    locale: 'en-GB',
    signature: (brand, support) =>
      `${brand}. This letter is about your account and cannot be switched off. ` +
      `Questions: ${support}`,
  },
  letters: {
    'confirm-email': ({ link, hours }, { brand }) => ({
      subject: `Confirm your e-mail address for ${brand}`,
      lines: [
        `Somebody, we hope you, is registering at ${brand} with this address.`,
        'Open the link and enter the password you chose. Until then there is no account.',
      ],
      button: { label: 'Confirm the address', link },
      more: [
        `The link works for ${hours} hours and only together with that password.`,
        'If it was not you, do nothing: without your answer nothing is created.',
      ],
    }),
    'already-registered': ({ signInLink, resetLink }, { brand }) => ({
      subject: `You already have an account at ${brand}`,
      lines: [
        'Somebody, perhaps you, tried to register or to use this address, which has an account.',
        'Nothing was changed. Sign in as usual.',
      ],
      button: { label: 'Sign in', link: signInLink },
      more: [
        `If you have forgotten the password, choose a new one: ${resetLink}`,
        'If it was not you, do nothing.',
      ],
    }),
    'reset-password': ({ link, minutes }, { brand }) => ({
      subject: `A new password for ${brand}`,
      lines: ['Somebody, we hope you, asked for a new password. Open the link to choose one.'],
      button: { label: 'Choose a new password', link },
      more: [
        `The link works once, for ${minutes} minutes. All sessions end when the password changes.`,
        'If it was not you, do nothing: the old password stays.',
      ],
    }),
    'password-guessed': (facts, setting) => ({
      subject: `Somebody is guessing your password at ${setting.brand}`,
      lines: [
        'There were too many wrong passwords for your account, ' +
          `the last one ${circumstances(facts, setting)}.`,
        `Sign-ins from unknown browsers wait for ${facts.minutes} minutes. ` +
          'Browsers you have used before are not affected.',
      ],
      more: [`A second factor or a passkey makes guessing useless: ${setting.securityLink}`],
    }),
    'new-device': (facts, setting) =>
      event(facts, setting, {
        subject: `A new sign-in to ${setting.brand}`,
        line: 'Your account was signed in to from a browser that we have not seen before',
      }),
    'password-changed': (facts, setting) =>
      event(facts, setting, {
        subject: `Your password for ${setting.brand} was changed`,
        line: 'The password of your account was changed, and all other sessions were ended',
      }),
    'email-change-asked': (facts, setting) =>
      event(facts, setting, {
        subject: `A change of your e-mail address at ${setting.brand}`,
        line:
          `Your account is to get the address ${facts.newEmail} instead of ${facts.oldEmail}, ` +
          'as soon as the new one is confirmed',
      }),
    'confirm-new-email': ({ link, minutes }, { brand }) => ({
      subject: `Confirm your new e-mail address for ${brand}`,
      lines: ['An account is to be moved to this address. Open the link while signed in to it.'],
      button: { label: 'Confirm the new address', link },
      more: [`The link works once, for ${minutes} minutes. If it was not you, do nothing.`],
    }),
    'email-changed': (facts, setting) =>
      event(facts, setting, {
        subject: `Your e-mail address at ${setting.brand} was changed`,
        line: `The address of your account is now ${facts.newEmail}; it was ${facts.oldEmail}`,
      }),
    'second-factor-on': (facts, setting) =>
      event(facts, setting, {
        subject: `The second factor is on at ${setting.brand}`,
        line: 'Signing in with your password now also asks for a code of your authenticator app',
      }),
    'second-factor-off': (facts, setting) =>
      event(facts, setting, {
        subject: `The second factor is off at ${setting.brand}`,
        line: 'Your password alone is enough to sign in again',
      }),
    'recovery-code-used': (facts, setting) =>
      event(facts, setting, {
        subject: `A recovery code was used at ${setting.brand}`,
        line: 'Your account was signed in to with a recovery code instead of the authenticator app',
      }),
    'passkey-added': (facts, setting) =>
      event(facts, setting, {
        subject: `A passkey was added at ${setting.brand}`,
        line: `A passkey${named(facts.name)} can now sign in to your account`,
      }),
    'passkey-removed': (facts, setting) =>
      event(facts, setting, {
        subject: `A passkey was removed at ${setting.brand}`,
        line: `A passkey${named(facts.name)} can no longer sign in to your account`,
      }),
    'key-created': (facts, setting) =>
      event(facts, setting, {
        subject: `An API key was created at ${setting.brand}`,
        line: `An API key ending in ${facts.last4} is in force`,
      }),
    'key-reissued': (facts, setting) =>
      event(facts, setting, {
        subject: `Your API key at ${setting.brand} was reissued`,
        line: `A new API key ending in ${facts.last4} is in force, and the one before has stopped`,
      }),
    'key-revoked': (facts, setting) =>
      event(facts, setting, {
        subject: `Your API key at ${setting.brand} was revoked`,
        line: `The API key ending in ${facts.last4} has stopped`,
      }),
    'account-closed': closed,
  },
}

function circumstances({ atMs, address, device }: Circumstances, setting: Setting): string {
  const from = [device, address].filter((part) => part !== '').join(', ')
  return `on ${setting.time(atMs)}${from === '' ? '' : ` (${from})`}`
}

function event(
  facts: Circumstances,
  setting: Setting,
  { subject, line }: { readonly subject: string; readonly line: string },
): Sentences {
  return {
    subject,
    lines: [`${line}: ${circumstances(facts, setting)}.`, 'If it was you, there is nothing to do.'],
    button: { label: 'It was not me', link: setting.securityLink },
    more: ['If it was not you, change the password and end the other sessions at once.'],
  }
}

function named(name: string): string {
  return name === '' ? '' : ` called “${name}”`
}

function closed(facts: Facts['account-closed'], { brand, time, day }: Setting): Sentences {
  return {
    subject: `Your account at ${brand} is closed`,
    lines: [
      `The account was closed on ${time(facts.atMs)}, and its API key has stopped.`,
      facts.unspent === 'refund'
        ? 'You asked for the unspent part to be paid back; a letter will tell when it goes.'
        : 'You gave up the unspent part.',
      'Records of payments are kept as the law asks. ' +
        `Your personal data will be erased on ${day(facts.eraseAtMs)}.`,
    ],
    more: ['If it was not you, answer to the address below at once.'],
  }
}
