// Which spellings of an e-mail address reach the same mailbox. Whoever counts by mailbox (promo
// codes, trials, e-mails) counts by this one spelling; an e-mail is sent to the address as given.

/** Providers whose mailboxes have several addresses; `dot`: what stands for a dot in the name. */
const providers = [
  { domains: ['gmail.com', 'googlemail.com'], dot: '' },
  {
    domains: [
      ...['yandex.ru', 'ya.ru', 'narod.ru', 'yandex.com', 'yandex.by', 'yandex.kz', 'yandex.ua'],
      'yandex.com.tr',
    ],
    dot: '-',
  },
  { domains: ['proton.me', 'protonmail.com', 'protonmail.ch', 'pm.me'], dot: '' },
  { domains: ['icloud.com', 'me.com', 'mac.com'], dot: '.' },
] as const

/**
 * One spelling for each mailbox: lower case, without the part after a plus sign, which almost all
 * mail servers ignore, and with the first of the provider's domains. Gmail and Proton ignore dots,
 * and Yandex takes a dot for a dash; elsewhere they make another mailbox. Somebody whose server
 * knows plus signs as letters loses a promo code at most.
 */
export function normalizeAddress(email: string): string {
  const address = email.trim().toLowerCase()
  const split = address.lastIndexOf('@')
  const [name, domain] = [address.slice(0, split), address.slice(split + 1)]
  const base = name.replace(/(?<=.)\+.*$/, '')
  const provider = providers.find(({ domains }) => domains.some((one) => one === domain))
  if (provider === undefined) return `${base}@${domain}`
  return `${base.replaceAll('.', provider.dot)}@${provider.domains[0]}`
}
