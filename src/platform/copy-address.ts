// Where the copy of operators' acts is: the value of acts.shipTo.
import { isPlainHttp } from './production.ts'

export type SyslogAddress = {
  readonly host: string
  readonly port: number
  /** A stream socket instead of a host. */
  readonly path?: string
}

export type CopyAddress =
  | { readonly kind: 'none' }
  | { readonly kind: 'file'; readonly path: string }
  | ({ readonly kind: 'syslog' } & SyslogAddress)
  | { readonly kind: 'http'; readonly url: string }

const EXPECTED =
  'expected none, file:/path, syslog:host:port, syslog:/path of a stream socket, or https://…'

/** Acts name operators and customers' accounts, so they leave the machine by TLS only. */
export function readCopyAddress(text: string): CopyAddress | { readonly problem: string } {
  if (text === 'none') return { kind: 'none' }
  const [, kind, rest = ''] = /^(file|syslog):(.+)$/.exec(text) ?? []
  if (kind === 'file' && rest.startsWith('/')) return { kind, path: rest }
  if (kind === 'syslog') {
    if (rest.startsWith('/')) return { kind, host: '', port: 0, path: rest }
    const [, host = '', port = ''] = /^\[?([\w.:-]+?)\]?:(\d{1,5})$/.exec(rest) ?? []
    if (host !== '' && Number(port) > 0) return { kind, host, port: Number(port) }
  }
  if (/^https?:\/\/\S+$/.test(text) && URL.canParse(text)) {
    const { username, password } = new URL(text)
    // The address is printed, and stored beside the mark of the copy.
    if (username + password !== '') return { problem: 'has a login; use acts.shipSecret' }
    if (isPlainHttp(text)) return { problem: 'is http:// beyond the loopback; use https://' }
    return { kind: 'http', url: text }
  }
  return { problem: EXPECTED }
}
