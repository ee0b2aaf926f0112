// Parses the URL of an SMTP server: smtp://user:password@host:587, or smtps:// for TLS from the
// first byte. In every mode, e-mails and passwords are sent without TLS only if the URL says so
// with ?starttls=optional or ?starttls=never.

export type SmtpServer = {
  readonly host: string
  readonly port: number
  /** TLS from the first byte. */
  readonly secure: boolean
  readonly requireTLS: boolean
  readonly ignoreTLS: boolean
  readonly auth?: { readonly user: string; readonly pass: string }
}

/**
 * Submission (RFC 6409) and submission over TLS (RFC 8314). Port 25 is for mail between servers.
 */
const PORT = 587
const TLS_PORT = 465
const STARTTLS = ['required', 'optional', 'never']

/**
 * The server, or what is wrong with the URL. The problem never quotes the URL: it contains a
 * password.
 */
export function readSmtpUrl(text: string): SmtpServer | { readonly problem: string } {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^smtps?:$/.test(url.protocol) || url.hostname === '') {
    return { problem: 'expected smtp://… or smtps://…' }
  }
  const starttls = url.searchParams.get('starttls') ?? 'required'
  const others = [...url.searchParams.keys()].filter((name) => name !== 'starttls')
  if (!STARTTLS.includes(starttls) || others.length > 0 || /^\/./.test(url.pathname)) {
    return { problem: `expected nothing after the host but ?starttls=${STARTTLS.join('|')}` }
  }
  const port = url.port === '' ? undefined : Number(url.port)
  // A server at port 465 expects TLS from the first byte, whatever the scheme of the URL.
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
