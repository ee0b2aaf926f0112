// Registration, sign-in and the links out of letters, in English.

import type { account as ru } from '../ru/account.ts'
import type { Same } from '../ru/ru.ts'

export const account: Same<typeof ru> = {
  signIn: {
    title: 'Sign in',
    email: 'E-mail',
    password: 'Password',
    submit: 'Sign in',
    forgot: 'I forgot my password',
    private: 'This is my device',
    privateHint: 'Untick it on a shared computer: the session ends with the browser.',
    or: 'or',
    passkey: 'Sign in with a passkey',
    newHere: 'New here?',
    register: 'Register',
  },
  second: {
    appText: 'Open your authenticator app and enter the six digits.',
    recoveryText: 'Enter one of your recovery codes. It works once.',
    app: 'Code from the app',
    recovery: 'Recovery code',
    useRecovery: 'I cannot use the app',
    useApp: 'Enter a code from the app',
    submit: 'Confirm',
    short: 'A code has at least six characters.',
  },
  fresh: {
    title: 'Confirm it is you',
    text: 'This matters for your account, so sign in once more.',
    submit: 'Confirm',
    passkey: 'Confirm with a passkey',
  },
  register: {
    title: 'Register',
    lead: 'An e-mail address and a password are enough.',
    submit: 'Register',
    known: 'Have an account?',
    signIn: 'Sign in',
    consents: 'Consents',
    consent: 'I agree to: <a>{{title}}</a>',
    consentNeeded: 'Registration is not possible without this consent.',
  },
  mail: {
    title: 'Look into your mail',
    text: 'We sent a letter to <b>{{email}}</b>. Open the link in it, on any device you like.',
    hint:
      'A letter may take a few minutes. If it is not there, look into spam. The link works for ' +
      'a day.',
    again: 'Send the letter again',
    againIn: 'Send again in {{time}}',
    sentAgain: 'Another letter is on its way. The former link no longer works.',
    againTitle: 'No letter?',
    againText: 'Enter the address you registered with, and we send a new link.',
    wrong: 'Mistyped the address?',
    register: 'Register anew',
  },
  confirm: {
    title: 'Confirm your e-mail',
    text: 'Enter the password you chose when registering, so that we know it is you.',
    password: 'Password of the account',
    submit: 'Confirm and sign in',
    spentTitle: 'This link no longer works',
    spentText: 'Perhaps the address is confirmed: then just sign in. If not, we send a new link.',
  },
  forgot: {
    title: 'A new password',
    text: 'Enter the e-mail of your account. We send a link by which you can set a new password.',
    submit: 'Send the link',
    sentText:
      'If there is an account with <b>{{email}}</b>, a letter with the link is on its way. It ' +
      'works for an hour.',
    back: 'Back to sign-in',
  },
  reset: {
    title: 'Choose a new password',
    text: 'All open sessions end, and you sign in with the new password.',
    password: 'New password',
    submit: 'Save the password',
    done: 'The password is changed. Sign in with it.',
    spentTitle: 'This link no longer works',
    spentText: 'A link works once, and no longer than an hour. Ask for a new one.',
    again: 'Ask for a new link',
  },
  emailChange: {
    title: 'A new e-mail address',
    text: 'Confirm that your account moves to this address. Letters and receipts will come here.',
    submit: 'Confirm the new address',
    doneTitle: 'The address is changed',
    doneText: 'From now on you sign in with {{email}}.',
    spentTitle: 'The link is incomplete',
    spentText: 'Open it straight from the letter. If that fails, ask for the change once more.',
  },
  consent: {
    newTitle: 'A document has changed',
    newText: 'Read the new version: <a>{{title}}</a>.',
    agree: 'I accept',
  },
}
