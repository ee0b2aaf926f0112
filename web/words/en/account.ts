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
  stepUp: {
    title: 'Confirm your identity',
    passwordText: 'For your security, enter your password to continue.',
    codeText: 'Two-factor authentication is on, so a code is needed.',
    submit: 'Confirm',
    passkey: 'Confirm with a passkey',
  },
  register: {
    title: 'Create your account',
    lead: 'All you need is an e-mail address and a password.',
    trial: '{{credits}} to try it',
    trialText:
      'You get them once, when you confirm your address, while the day’s allowance lasts. They ' +
      'cannot be paid out.',
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
  invitation: {
    title: 'Create your account',
    text: 'An account has been prepared for your address. Choose a password: nobody else knows it.',
    submit: 'Create account',
    spentText:
      'If you have already created your account, just sign in. If not, request a new link.',
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
    doneText:
      'From now on, sign in with {{email}}. For seven days the change can be undone with the ' +
      'link that we sent to the old address.',
    spentTitle: 'This link is incomplete',
    spentText: 'Open it directly from the e-mail. If that does not help, request the change again.',
  },
  unsubscribe: {
    title: 'Stop the monthly summaries?',
    text:
      'You will get no more e-mails about your months. E-mails about payments and security will ' +
      'still arrive.',
    submit: 'Unsubscribe',
    doneTitle: 'You are unsubscribed',
    doneText: 'You can turn the summaries on again in the settings.',
    spentTitle: 'This link does not work',
    spentText: 'Turn the summaries on or off in the settings of your account.',
  },
  undoEmail: {
    title: 'Undo the change of address?',
    text:
      'The account gets its previous address back. All sessions end and the password stops ' +
      'working; we will send a link to set a new one to that address.',
    submit: 'Undo the change',
    doneTitle: 'The account has its old address again',
    doneText:
      'All sessions have ended. Check your inbox: we sent a link to set a new password. Then ' +
      'check passkeys and keys.',
    spentTitle: 'This link no longer works',
    spentText: 'Links work once, for seven days. If you cannot get into your account, contact us.',
  },
  review: {
    title: 'Check your account',
    question: 'From which day may someone else have had access?',
    text:
      'Your password was reset. If someone else had access, they may have added a passkey or ' +
      'created an API key. Passkeys do not work until you finish this check; API keys ' +
      'keep working.',
    since: 'From this day',
    nothingSince: 'No passkeys or keys have been created since that day.',
    choose: 'Created since then. Those that are ticked will be removed:',
    passkey: 'Passkey: {{name}}',
    key: 'API key ending in {{last4}}',
    made: 'Created {{time}}',
    drop_one: 'Remove {{count}} and finish',
    drop_other: 'Remove {{count}} and finish',
    keepAll: 'Keep everything and finish',
    done: 'Done. All other sessions have ended.',
    none: 'There is nothing to check.',
    bannerTitle: 'Check passkeys and keys',
    bannerText: 'Your password was reset. Passkeys do not work until you finish the check.',
    bannerAction: 'Check',
  },
  consent: {
    newTitle: 'A document has been updated',
    newText: 'Please read the new version: <a>{{title}}</a>.',
    agree: 'Accept',
  },
}
