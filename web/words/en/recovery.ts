// Recovering an account: the link after a lost authenticator, the wait, stops, a lost mailbox.

export const recovery = {
  lostFactor: {
    open: 'I have lost my authenticator',
    title: 'Lost your authenticator?',
    text:
      'If you have neither the app nor a recovery code, we can e-mail you a link. With the link ' +
      'and your password you begin a recovery; it waits, and we warn you in every way we can.',
    send: 'E-mail me a link',
    sent: 'Check your inbox: we have sent a link.',
    back: 'Enter a code instead',
  },
  recovery: {
    title: 'Recover your account',
    text:
      'Enter your password to begin. The recovery waits {{hours}} hours. Then you can turn ' +
      'two-factor authentication off with another link and your password.',
    hint:
      'Until then we warn your mailbox and every signed-in browser. Anyone who can sign in with ' +
      'a code or a passkey stops the recovery.',
    begin: 'Begin recovery',
    ripeTitle: 'Complete the recovery',
    ripeText:
      'The waiting time is over. Enter your password: two-factor authentication will be turned ' +
      'off, and all sessions will end.',
    complete: 'Turn off two-factor authentication',
    waitTitle: 'The recovery is waiting',
    waitText: 'You can complete it after <b>{{time}}</b>. We will send you an e-mail then.',
    waitMore:
      'We have warned every mailbox and every signed-in browser of the account. Each of them ' +
      'can stop the recovery.',
    doneTitle: 'Two-factor authentication is off',
    doneText: 'All sessions have ended. Sign in with your password and set up a new app.',
    spentTitle: 'This link no longer works',
    spentText:
      'It has expired or was used, or the recovery was stopped. To begin again, sign in with ' +
      'your password.',
    back: 'Back to sign-in',
  },
  stopRecovery: {
    title: 'Stop the recovery?',
    text:
      'Someone is recovering this account. If it is not you, stop it: the account stays as it ' +
      'is. If the recovery was completed already, it is undone: all sessions end, and we will ' +
      'send a link to set a new password.',
    submit: 'Stop the recovery',
    doneTitle: 'The recovery is stopped',
    doneText: 'The account stays as it was. If someone knows your password, change it now.',
    takenTitle: 'The recovery was undone',
    takenText:
      'All sessions have ended and the old password no longer works. Check your inbox: we sent a ' +
      'link to set a new one.',
  },
  confirmRecovery: {
    title: 'Confirm the recovery',
    text:
      'Our support has begun to recover your account. Confirm that this mailbox is yours; then ' +
      'the waiting time begins.',
    submit: 'Confirm',
  },
  finishRecovery: {
    title: 'Complete the recovery',
    text:
      'The account gets this e-mail address. All sessions end, and we will send a link here to ' +
      'set a new password.',
    submit: 'Complete the recovery',
    doneTitle: 'The account has your new address',
    doneText:
      'Check your inbox: we sent a link to set a new password. Then check passkeys and keys.',
  },
  recoveryBanner: {
    title: 'Someone is recovering your account',
    authenticator: 'Two-factor authentication will be turned off.',
    mailbox: 'The address will be replaced by {{email}}.',
    both: 'The address will be replaced by {{email}}, and two-factor authentication turned off.',
    text: 'This is possible after {{time}}. If it is not you, stop it.',
    stop: 'Stop it',
    done: 'The recovery is stopped.',
  },
}
