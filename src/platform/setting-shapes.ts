// The shapes that texts among the settings may have, with the sentence for one that has another.
import { z } from 'zod'
import { readCopyAddress } from './copy-address.ts'
import { readSmtpUrl } from './mail/smtp-url.ts'
import { readNetworks } from './networks.ts'

/** A text that its own reader understands, or whose problem the reader tells. */
function readable(read: (value: string) => object) {
  return z.string().superRefine((value, context) => {
    const found = read(value)
    if ('problem' in found) context.addIssue({ code: 'custom', message: String(found.problem) })
  })
}

/** The login is a secret of its own, so it must not be in the URL. */
export const PROXY_URL = /^(?:none|(?:https?|socks5):\/\/[^\s/@]+)$/
export const PROXY_EXPECTED =
  'expected none, http(s)://host:port or socks5://host:port, without a login'

/** A link to a receipt, which {fn}, {i}, {fp}, {s}, {t} and {n} make complete. */
export const receiptUrl = z
  .string()
  .regex(
    /^(?:none|https:\/\/(?:[^\s{}]|\{(?:fn|i|fp|s|t|n)\})+)$/,
    'expected none or https://… with {fn}, {i}, {fp}, {s}, {t} or {n}',
  )

/** Passkeys are bound to it: a scheme, a host, perhaps a port. */
export const ORIGIN = /^https?:\/\/[^\s/]+$/

/** An issuer of OpenID Connect, compared with the ID token as it is written. */
export const ISSUER = /^(?:none|https?:\/\/[^\s?#]+)$/
/** A claim of an ID token and the value that it must have. */
export const CLAIM = /^(?:none|[\w:./-]+=\S+)$/
/** Claims that count as a second factor. */
export const CLAIMS = /^(?:own|[\w:./-]+=[^\s,]+(?:,[\w:./-]+=[^\s,]+)*)$/

export const databaseUrl = z.string().regex(/^postgres(?:ql)?:\/\/\S+$/, 'expected postgres://…')
export const otherUrl = z
  .string()
  .regex(/^(?:none|postgres(?:ql)?:\/\/\S+)$/, 'expected none or postgres://…')
export const smtpUrl = readable(readSmtpUrl)
export const networks = readable(readNetworks)
export const sender = z
  .string()
  .regex(
    /^(?:[^<>@\r\n]+ <[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/,
    'expected Name <address> or an address',
  )
/** Who may send notifications: anyone, the provider's published addresses, or a list. */
export const sources = readable((value) =>
  value === 'any' || value === 'published' ? {} : readNetworks(value),
)
export const copyAddress = readable(readCopyAddress)
export const versions = z
  .string()
  .regex(/^\d{4}-\d\d-\d\d(?: *, *\d{4}-\d\d-\d\d)*$/, 'expected dates with commas between them')
export const headerName = z.string().regex(/^[a-z0-9-]+$/, 'expected a header name')
/** Visible ASCII: anything else could end a header, and fails at every request. */
export const HEADER_VALUE = /^[\x21-\x7e]+$/
export const headerValue = z
  .string()
  .regex(HEADER_VALUE, 'expected visible ASCII characters, without spaces and line breaks')
