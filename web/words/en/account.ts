// Sign-up, sign-in and the pages that e-mails link to, in English.

import type { account as ru } from '../ru/account.ts'
import type { Same } from '../ru/ru.ts'

export const account: Same<typeof ru> = {
  signIn: {
    title: 'Sign in',
    email: 'E-mail',
    password: 'Password',
    submit: 'Sign in',
    forgot: 'Forgot your password?',
    private: 'Keep me signed in',
    privateHint:
      'Untick this on a shared computer: you will be signed out when you close the browser.',
    or: 'or',
    passkey: 'Sign in with a passkey',
    newHere: 'New here?',
    register: 'Create an account',
  },
  second: {
    appText: 'Enter the six-digit code from your authenticator app.',
    recoveryText: 'Enter one of your recovery codes. Each code works once.',
    app: 'Authentication code',
    recovery: 'Recovery code',
    useRecovery: 'Use a recovery code instead',
    useApp: 'Use the app instead',
    submit: 'Verify',
    short: 'Enter at least six characters.',
  },
  fresh: {
    title: 'Confirm your identity',
    text: 'For your security, sign in again to continue.',
    submit: 'Confirm',
    passkey: 'Confirm with a passkey',
  },
  register: {
    title: 'Create your account',
    lead: 'All you need is an e-mail address and a password.',
    submit: 'Create account',
    known: 'Already have an account?',
    signIn: 'Sign in',
    consents: 'Terms and consents',
    consent: 'I agree to: <a>{{title}}</a>',
    consentNeeded: 'This is required to create an account.',
  },
  mail: {
    title: 'Check your inbox',
    text: 'We sent an e-mail to <b>{{email}}</b>. Open the link in it on any device.',
    hint:
      'It may take a few minutes to arrive. If you cannot find it, check your spam folder. The ' +
      'link works for 24 hours.',
    again: 'Resend e-mail',
    againIn: 'Resend in {{time}}',
    sentAgain: 'We sent another e-mail. The previous link no longer works.',
    againTitle: 'Did not get the e-mail?',
    againText: 'Enter the address you signed up with and we will send you a new link.',
    wrong: 'Wrong address?',
    register: 'Sign up again',
  },
  confirm: {
    title: 'Confirm your e-mail',
    text: 'Enter the password you chose when you signed up, so that we know this is you.',
    password: 'Account password',
    submit: 'Confirm and sign in',
    spentTitle: 'This link no longer works',
    spentText:
      'If you have already confirmed your address, just sign in. If not, request a new link.',
  },
  forgot: {
    title: 'Reset your password',
    text: 'Enter your account e-mail address. We will send you a link to set a new password.',
    submit: 'Send link',
    sentText:
      'If there is an account for <b>{{email}}</b>, we have sent a link to that address. It ' +
      'works for one hour.',
    back: 'Back to sign-in',
  },
  reset: {
    title: 'Choose a new password',
    text: 'You will be signed out on all devices. Then sign in with the new password.',
    password: 'New password',
    submit: 'Save password',
    done: 'Password changed. Sign in with your new password.',
    spentTitle: 'This link no longer works',
    spentText: 'Links work once and expire after an hour. Request a new one.',
    again: 'Request a new link',
  },
  emailChange: {
    title: 'Confirm your new e-mail',
    text:
      'This will become the e-mail address of your account. E-mails and receipts will be sent ' +
      'here.',
    submit: 'Confirm new address',
    doneTitle: 'E-mail address changed',
    doneText: 'From now on, sign in with {{email}}.',
    spentTitle: 'This link is incomplete',
    spentText: 'Open it directly from the e-mail. If that does not help, request the change again.',
  },
  consent: {
    newTitle: 'A document has been updated',
    newText: 'Please read the new version: <a>{{title}}</a>.',
    agree: 'Accept',
  },
}
