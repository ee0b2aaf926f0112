// The address of a mail relay, read: smtp://user:password@host:587, or smtps:// for TLS from the
// first byte. One rule for every mode: a letter is not sent, nor a password shown, in the clear
// unless the address says so with ?starttls=optional or ?starttls=never.

export type Relay = {
  readonly host: string
  readonly port: number
  /** TLS from the first byte. */
  readonly secure: boolean
  readonly requireTLS: boolean
  readonly ignoreTLS: boolean
  readonly auth?: { readonly user: string; readonly pass: string }
}

/** Submission (RFC 6409) and submission over TLS (RFC 8314). 25 is for servers among themselves. */
const PORT = 587
const TLS_PORT = 465
const STARTTLS = ['required', 'optional', 'never']

/** The relay, or what is wrong with the address. A complaint never quotes it: it has a password. */
export function readSmtpUrl(text: string): Relay | { readonly complaint: string } {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^smtps?:$/.test(url.protocol) || url.hostname === '') {
    return { complaint: 'expected smtp://… or smtps://…' }
  }
  const starttls = url.searchParams.get('starttls') ?? 'required'
  const others = [...url.searchParams.keys()].filter((name) => name !== 'starttls')
  if (!STARTTLS.includes(starttls) || others.length > 0 || /^\/./.test(url.pathname)) {
    return { complaint: `expected nothing after the host but ?starttls=${STARTTLS.join('|')}` }
  }
  const port = url.port === '' ? undefined : Number(url.port)
  // A server at 465 expects TLS and says nothing until it comes, whatever the address is called.
  const secure = url.protocol === 'smtps:' || port === TLS_PORT
  return {
    // URL keeps the brackets of an IPv6 address; a socket does not want them.
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port ?? (secure ? TLS_PORT : PORT),
    secure,
    requireTLS: !secure && starttls === 'required',
    ignoreTLS: !secure && starttls === 'never',
    ...(url.username === ''
      ? {}
      : { auth: { user: decoded(url.username), pass: decoded(url.password) } }),
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text // a bare % in a password is a percent sign
  }
}
