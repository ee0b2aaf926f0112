// The settings, in English.

import type { Same } from '../ru/ru.ts'
import type { settings as ru } from '../ru/settings.ts'

export const settings: Same<typeof ru> = {
  settings: {
    profile: 'Profile',
    security: 'Security',
    limits: 'Limits',
    privacy: 'Your data',
    saved: 'Saved.',
    email: 'E-mail',
    emailNow: 'Current address: <b>{{email}}</b>',
    emailNew: 'New address',
    emailHint:
      'We will send a link there. Your address does not change until you open the link. For ' +
      'seven days the change can be undone from the old address.',
    emailSubmit: 'Change e-mail',
    emailRecentTitle: 'The address was changed recently',
    emailRecent:
      'Until {{time}} the change can be undone from {{email}}. After that you can change the ' +
      'address again.',
    emailSentTitle: 'Check the inbox of your new address',
    emailSent: 'We sent a link to {{email}}. It works for one hour.',
    look: 'Language and appearance',
    languageHint: 'E-mails are sent in this language, too.',
    themeHint: 'Applies to this browser only.',
    zone: 'Time zone',
    zoneSystem: 'System: {{zone}}',
    zoneHint:
      'Daily usage is counted in this time zone. E-mails use the zone chosen here, or UTC if ' +
      'none is chosen. The time there is now {{now}}.',
  },
  security: {
    password: 'Password',
    passwordHint: 'Changing it ends all other sessions. We will confirm the change by e-mail.',
    passwordNow: 'Current password',
    passwordNew: 'New password',
    passwordSubmit: 'Change password',
    passwordChanged: 'Password changed. All other sessions have ended.',
    sessions: 'Active sessions',
    sessionsHint: 'See a device you do not recognise? End its session and change your password.',
    device: 'Device',
    deviceUnknown: 'Unknown device',
    address: 'IP address',
    lastSeen: 'Last active',
    current: 'This browser',
    revoke: 'End session',
    revokeOf: 'End session: {{device}}',
    revokeOthers: 'End other sessions',
    revokeOthersTitle: 'End all other sessions?',
    revokeOthersText: 'Other devices will have to sign in again. You stay signed in here.',
    othersRevoked_zero: 'There were no other sessions.',
    othersRevoked_one: '{{count}} session ended.',
    othersRevoked_other: '{{count}} sessions ended.',
  },
  factor: {
    title: 'Two-factor authentication',
    hint: 'A code from an app as well as your password, so that a stolen password is not enough.',
    on: 'On',
    off: 'Off',
    enable: 'Turn on',
    disable: 'Turn off',
    newCodes: 'Get new recovery codes',
    enableTitle: 'Turn on two-factor authentication',
    passwordText: 'First, enter your password.',
    appText: 'Scan the QR code with an authenticator app and enter the six digits it shows.',
    qr: 'QR code for an authenticator app; the same secret is shown below as text',
    secret: 'Cannot scan it? Enter this secret manually:',
    verify: 'Verify code',
    codesTitle: 'Recovery codes',
    codesText:
      'Save them in your password manager. If you lose your phone, each code works once instead ' +
      'of the app. We will not show them again.',
    codesFile: 'Recovery codes for the account {{email}}',
    codesKept: 'I have saved the codes',
    disableTitle: 'Turn off two-factor authentication?',
    disableText: 'Your password alone will be enough to sign in. Recovery codes will stop working.',
    disabled: 'Two-factor authentication is off.',
    newCodesTitle: 'New recovery codes',
    newCodesText: 'Your old codes will stop working.',
  },
  passkey: {
    title: 'Passkeys',
    hint: 'Sign in with your fingerprint, face or device PIN instead of a password and a code.',
    add: 'Add passkey',
    addText: 'Your browser will ask where to save it: on this device, a phone or a security key.',
    added: 'Passkey added.',
    name: 'Name',
    nameHint: 'Helps you recognise it in the list, for example “Work laptop”.',
    unnamed: 'Unnamed',
    since: 'Added',
    rename: 'Rename passkey',
    renameOf: 'Rename: {{name}}',
    remove: 'Remove',
    removeOf: 'Remove: {{name}}',
    removeTitle: 'Remove this passkey?',
    removeText:
      'You will no longer be able to sign in with it. Remove it in your device’s settings, too.',
    unsupported: 'This browser does not support passkeys.',
  },
  privacy: {
    consents: 'Consents',
    consentsHint: 'What you agreed to, and when.',
    noConsents: 'No consents yet.',
    notGiven: 'Not given',
    export: 'Export your data',
    exportHint:
      'Everything we store about you in one JSON file. Prompts are not included: we do not store ' +
      'them.',
    exportSubmit: 'Download data',
  },
  closing: {
    title: 'Close account',
    hint: 'Your key stops working immediately and you cannot sign in again. This cannot be undone.',
    available: 'Credit balance',
    refund: 'Refundable amount',
    choice: 'What should happen to the remaining credits?',
    chooseRefund: 'Refund {{sum}} to my original payment method',
    chooseForfeit: 'Give up the remaining credits',
    waits_one:
      'You have {{count}} unpaid order. You can close your account once it expires, within an ' +
      'hour.',
    waits_other:
      'You have {{count}} unpaid orders. You can close your account once they expire, within an ' +
      'hour.',
    submit: 'Close account',
    sureTitle: 'Close your account permanently?',
    sureText: 'Your key and all sessions stop working immediately.',
    sureRefund: 'I understand that my account will be closed and the refundable amount refunded.',
    sureEmpty: 'I understand that my account will be closed permanently.',
    sureForfeit: 'I understand that my account will be closed and the remaining credits lost.',
    done: 'Your account is closed. We sent you an e-mail with the details.',
  },
}
