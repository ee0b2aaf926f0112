// Which spellings of an e-mail address reach the same mailbox. Whoever counts by mailbox (promo
// codes, trials, e-mails) counts by this one spelling; an e-mail is sent to the address as given.

const GMAIL = /^(?:gmail|googlemail)\.com$/
const YANDEX = /^(?:ya\.ru|yandex\.(?:ru|com|by|kz|ua|com\.tr))$/

/**
 * One spelling for each mailbox: lower case, without the part after a plus sign, which almost all
 * mail servers ignore. Gmail ignores dots, and Yandex takes a dot for a dash; elsewhere they make
 * another mailbox. Somebody whose server knows plus signs as letters loses a promo code at most.
 */
export function normalizeAddress(email: string): string {
  const address = email.trim().toLowerCase()
  const split = address.lastIndexOf('@')
  const [name, domain] = [address.slice(0, split), address.slice(split + 1)]
  const base = name.replace(/(?<=.)\+.*$/, '')
  if (GMAIL.test(domain)) return `${base.replaceAll('.', '')}@gmail.com`
  if (YANDEX.test(domain)) return `${base.replaceAll('.', '-')}@yandex.ru`
  return `${base}@${domain}`
}
