// The frame around every page, and words that any page may need, in English.

import type { frame as ru } from '../ru/frame.ts'
import type { Same } from '../ru/ru.ts'

export const frame: Same<typeof ru> = {
  nav: {
    label: 'Main menu',
    home: 'Overview',
    usage: 'Usage',
    packs: 'Top up',
    payments: 'Payments',
    key: 'API key',
    settings: 'Settings',
    skip: 'Skip to content',
    brandHome: '{{name}} home',
    toHome: 'Go to home page',
  },
  balance: {
    label: 'Balance',
    topUp: 'Top up',
  },
  credits: {
    exact: 'Exactly {{exact}}',
    unit_one: '{{shown}} credit',
    unit_other: '{{shown}} credits',
    about: 'about {{rubles}}',
    withAbout: '{{credits}} ({{about}})',
    atLast: 'at the price of your last purchase, {{rubles}} per million credits',
    atPack: 'at the price of the pack of {{pack}}, {{rubles}} per million credits',
  },
  menu: {
    account: 'Account menu',
    language: 'Language',
    theme: 'Theme',
    signOut: 'Sign out',
    security: 'Security',
  },
  language: { ru: 'Русский', en: 'English' },
  theme: {
    now: 'Theme: {{theme}}',
    system: 'System',
    light: 'Light',
    dark: 'Dark',
  },
  footer: {
    help: 'Help',
    documents: 'Legal',
    seller: 'Seller',
    independent:
      '{{name}} is an independent service. It is not affiliated with any model vendor and does ' +
      'not represent or act on behalf of one.',
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
    failed: 'The browser blocked copying. Select the text and copy it manually.',
  },
  field: {
    optional: 'optional',
    required: 'This field is required.',
    email: 'Enter an address like name@example.com.',
  },
  password: {
    show: 'Show password',
    hide: 'Hide password',
    rule: 'At least {{min}} characters. A phrase of several words works well.',
    more_one: '{{count}} more character needed.',
    more_other: '{{count}} more characters needed.',
  },
  state: {
    loading: 'Loading…',
    offline: 'You are offline. This page may be out of date.',
  },
  notFound: {
    title: 'Page not found',
    text: 'The link may be outdated, or there is a typo in the address.',
  },
  away: {
    offline: 'No connection',
    title: 'The service is temporarily unavailable',
    text: 'This page will open automatically once the service is back. No need to reload it.',
  },
  broken: {
    title: 'Something went wrong on our side',
    text: 'The page could not be opened. Reload it; if that does not help, contact us: {{email}}.',
    textPlain: 'The page could not be opened. Reload it.',
    reload: 'Reload',
    detail: 'Details for support',
  },
  document: {
    version: 'Version {{version}}',
  },
}
