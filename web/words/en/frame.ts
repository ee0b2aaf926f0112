// The frame around every page, and words that any page may need, in English.

import type { frame as ru } from '../ru/frame.ts'
import type { Same } from '../ru/ru.ts'

export const frame: Same<typeof ru> = {
  nav: {
    label: 'Sections',
    home: 'Overview',
    usage: 'Usage',
    packs: 'Top up',
    payments: 'Payments',
    key: 'Key',
    settings: 'Settings',
    skip: 'Skip to content',
    brandHome: '{{name}}: home',
    toHome: 'Home',
  },
  balance: {
    label: 'Balance',
    topUp: 'Top up',
  },
  credits: {
    exact: 'Exactly {{exact}}',
    unit_one: '{{shown}} credit',
    unit_other: '{{shown}} credits',
  },
  menu: {
    account: 'Account menu',
    language: 'Language',
    theme: 'Appearance',
    signOut: 'Sign out',
    security: 'Security',
  },
  language: { ru: 'Русский', en: 'English' },
  theme: {
    now: 'Appearance: {{theme}}',
    system: 'As in the system',
    light: 'Light',
    dark: 'Dark',
  },
  footer: {
    help: 'Help',
    documents: 'Documents',
    seller: 'Seller',
    independent:
      '{{name}} is an independent service. It is not affiliated with any model vendor, does not ' +
      'represent one and does not act on behalf of one.',
  },
  action: {
    again: 'Try again',
    cancel: 'Cancel',
    close: 'Close',
    continue: 'Continue',
    download: 'Download',
    print: 'Print',
    save: 'Save',
    done: 'Done',
  },
  copy: {
    copy: 'Copy',
    done: 'Copied',
    failed: 'The browser did not allow copying. Select the text and copy it yourself.',
  },
  field: {
    optional: 'optional',
    required: 'Fill this in.',
    email: 'An address looks like name@example.com.',
  },
  password: {
    show: 'Show password',
    hide: 'Hide password',
    rule: 'At least {{min}} characters. A phrase of several words is fine.',
    more_one: '{{count}} more character.',
    more_other: '{{count}} more characters.',
  },
  state: {
    loading: 'Loading…',
    offline: 'No connection. This is what was there before.',
  },
  notFound: {
    title: 'There is no such page',
    text: 'The link may be out of date, or the address has a typo.',
  },
  away: {
    title: 'The service is away for a moment',
    text: 'This page opens by itself as soon as it answers. There is no need to reload.',
  },
  broken: {
    title: 'Something broke on our side',
    text: 'The page did not open. Reload it; if that does not help, write to us: {{email}}.',
    textPlain: 'The page did not open. Reload it.',
    reload: 'Reload',
    detail: 'For support',
  },
  document: {
    version: 'Version {{version}}',
  },
}
