// Requests that two HTTP parsers could read differently: the length of the body, which header
// counts, where a line ends. They are tables and products of tables, so that gaps are easy to see.
import { API_HOST } from './stage.ts'

/** What a case puts into its requests; each request has its own mark. */
export type CaseContext = {
  readonly key: string
  /** A key of another account. */
  readonly otherKey: string
  /** The query string that marks a request: 1 the outer one, 2 the one hidden in its body. */
  mark(role: 1 | 2): string
  body(role: 1 | 2): string
}

export type Case = { readonly name: string; bytes(context: CaseContext): string }

type Parts = {
  readonly line?: (context: CaseContext) => string
  readonly host?: readonly string[]
  readonly auth?: (context: CaseContext) => readonly string[]
  /** The header lines that state the length of the body. */
  readonly framing?: (length: number) => readonly string[]
  readonly more?: readonly string[]
  readonly payload?: (context: CaseContext) => string
  /** Applied last, to the whole text. */
  readonly edit?: (text: string) => string
}

const JSON_TYPE = 'Content-Type: application/json'
const HOST = `Host: ${API_HOST}`
const keyLine = ({ key }: CaseContext) => [`X-Api-Key: ${key}`]
const lengthLine = (length: number) => [`Content-Length: ${length}`]
const whole = (context: CaseContext) => context.body(1)
const chunk = (text: string, size = text.length.toString(16)) => `${size}\r\n${text}\r\n`
const chunked = (context: CaseContext) => `${chunk(context.body(1))}0\r\n\r\n`
const CHUNKED = ['Transfer-Encoding: chunked']

function write(parts: Parts): (context: CaseContext) => string {
  const { host = [HOST], auth = keyLine, framing = lengthLine, more = [] } = parts
  return (context) => {
    const payload = (parts.payload ?? whole)(context)
    const line = parts.line?.(context) ?? `POST /v1/messages?${context.mark(1)} HTTP/1.1`
    const lines = [line, ...host, JSON_TYPE, ...auth(context), ...framing(payload.length), ...more]
    const text = `${lines.join('\r\n')}\r\n\r\n${payload}`
    return parts.edit?.(text) ?? text
  }
}

function hidden(context: CaseContext): string {
  const inner = context.body(2)
  const auth = `X-Api-Key: ${context.key}\r\nContent-Length: ${inner.length}`
  const head = `POST /v1/messages?${context.mark(2)} HTTP/1.1\r\n${HOST}\r\n${JSON_TYPE}\r\n${auth}`
  return `${head}\r\n\r\n${inner}`
}

/** An empty body for a parser that reads chunks; for one that counts bytes, a longer body. */
const ended = (context: CaseContext) => `0\r\n\r\n${hidden(context)}`
/** A body and then a request: one or two requests, depending on how the length is read. */
const followed = (context: CaseContext) => `${context.body(1)}${hidden(context)}`

const lengths: Record<string, (n: number) => readonly string[]> = {
  'no length': () => [],
  'its length': (n) => [`Content-Length: ${n}`],
  'length 0': () => ['Content-Length: 0'],
  'half its length': (n) => [`Content-Length: ${n >> 1}`],
  'length twice': (n) => [`Content-Length: ${n}`, `Content-Length: ${n}`],
  'two lengths': (n) => [`Content-Length: ${n}`, 'Content-Length: 5'],
  'two lengths, 0 first': (n) => ['Content-Length: 0', `Content-Length: ${n}`],
  'a list of lengths': (n) => [`Content-Length: ${n}, ${n}`],
  'length +n': (n) => [`Content-Length: +${n}`],
  'length 0x': (n) => [`Content-Length: 0x${n.toString(16)}`],
  'length -1': () => ['Content-Length: -1'],
  'length with a letter': (n) => [`Content-Length: ${n}a`],
  'length 2^64': (n) => [`Content-Length: ${2n ** 64n + BigInt(n)}`],
  'length, a space before the colon': (n) => [`Content-Length : ${n}`],
  'length with an underscore': (n) => [`Content_Length: ${n}`],
  'length on a folded line': (n) => ['Content-Length:', ` ${n}`],
}

const encodings: Record<string, readonly string[]> = {
  plain: [],
  chunked: CHUNKED,
  CHUNKED: ['Transfer-Encoding: CHUNKED'],
  'chunked twice': [...CHUNKED, ...CHUNKED],
  'chunked, chunked': ['Transfer-Encoding: chunked, chunked'],
  identity: ['Transfer-Encoding: identity'],
  'identity, chunked': ['Transfer-Encoding: identity, chunked'],
  'chunked, identity': ['Transfer-Encoding: chunked, identity'],
  'gzip, chunked': ['Transfer-Encoding: gzip, chunked'],
  xchunked: ['Transfer-Encoding: xchunked'],
  'chunked after a tab': ['Transfer-Encoding:\tchunked'],
  'chunked after a vertical tab': ['Transfer-Encoding: \x0bchunked'],
  'chunked;q=1': ['Transfer-Encoding: chunked;q=1'],
  'chunked, a space before the colon': ['Transfer-Encoding : chunked'],
  'chunked on a folded line': ['Transfer-Encoding:', ' chunked'],
  'chunked with an underscore': ['Transfer_Encoding: chunked'],
  'chunked hidden after a bare LF': ['X-A: b\nTransfer-Encoding: chunked'],
  'chunked hidden after a bare CR': ['X-A: b\rTransfer-Encoding: chunked'],
}

/** Every length with every encoding; the body makes the two readings differ visibly. */
function framings(): Case[] {
  return Object.entries(lengths).flatMap(([length, linesOf]) =>
    Object.entries(encodings).map(([encoding, lines]) => {
      const payload = encoding === 'plain' ? followed : ended
      return {
        name: `${length}, ${encoding}`,
        bytes: write({ framing: (n) => [...linesOf(n), ...lines], payload }),
      }
    }),
  )
}

const chunkings: Record<string, (context: CaseContext) => string> = {
  'as it should be': chunked,
  'upper case': (w) => `${chunk(w.body(1), w.body(1).length.toString(16).toUpperCase())}0\r\n\r\n`,
  'leading zeros': (w) => `${chunk(w.body(1), `000${w.body(1).length.toString(16)}`)}0\r\n\r\n`,
  '0x before the size': (w) => `${chunk(w.body(1), `0x${size(w)}`)}0\r\n\r\n`,
  '+ before the size': (w) => `${chunk(w.body(1), `+${size(w)}`)}0\r\n\r\n`,
  '- before the size': (w) => `${chunk(w.body(1), `-${size(w)}`)}0\r\n\r\n`,
  'a space before the size': (w) => `${chunk(w.body(1), ` ${size(w)}`)}0\r\n\r\n`,
  'a space after the size': (w) => `${chunk(w.body(1), `${size(w)} `)}0\r\n\r\n`,
  'a tab after the size': (w) => `${chunk(w.body(1), `${size(w)}\t`)}0\r\n\r\n`,
  'an extension': (w) => `${chunk(w.body(1), `${size(w)};a=b`)}0\r\n\r\n`,
  'a quoted extension with CRLF': (w) => `${chunk(w.body(1), `${size(w)};a="\r\n`)}0\r\n\r\n`,
  'an extension with a bare LF': (w) => `${chunk(w.body(1), `${size(w)};a\n`)}0\r\n\r\n`,
  'a long extension': (w) => `${chunk(w.body(1), `${size(w)};${'a'.repeat(20_000)}`)}0\r\n\r\n`,
  'no size': (w) => `${chunk(w.body(1), '')}0\r\n\r\n`,
  'a size of 17 digits': (w) => `${chunk(w.body(1), `1${'0'.repeat(16)}`)}0\r\n\r\n`,
  'a size of 2^64 + n': (w) => `${chunk(w.body(1), (2n ** 64n + big(w)).toString(16))}0\r\n\r\n`,
  'a size that is too small': (w) => `${chunk(w.body(1), '5')}0\r\n\r\n`,
  'a size that is too large': (w) => `${chunk(w.body(1), (big(w) + 3n).toString(16))}0\r\n\r\n`,
  'LF after the size': (w) => `${size(w)}\n${w.body(1)}\r\n0\r\n\r\n`,
  'LF after the data': (w) => `${size(w)}\r\n${w.body(1)}\n0\r\n\r\n`,
  'LF everywhere': (w) => `${size(w)}\n${w.body(1)}\n0\n\n`,
  'CR after the size': (w) => `${size(w)}\r${w.body(1)}\r\n0\r\n\r\n`,
  'nothing after the data': (w) => `${size(w)}\r\n${w.body(1)}0\r\n\r\n`,
  'two letters after the data': (w) => `${size(w)}\r\n${w.body(1)}XX0\r\n\r\n`,
  'a byte at a time': (w) => `${[...w.body(1)].map((one) => chunk(one)).join('')}0\r\n\r\n`,
  'an end of 00000': (w) => `${chunk(w.body(1))}00000\r\n\r\n`,
  'an end with an extension': (w) => `${chunk(w.body(1))}0;a=b\r\n\r\n`,
  'no end': (w) => chunk(w.body(1)),
  'half an end': (w) => `${chunk(w.body(1))}0\r\n`,
  'a trailer': (w) => `${chunk(w.body(1))}0\r\nX-A: b\r\n\r\n`,
  'a key in the trailer': (w) => `${chunk(w.body(1))}0\r\nX-Api-Key: ${w.otherKey}\r\n\r\n`,
  'a length in the trailer': (w) => `${chunk(w.body(1))}0\r\nContent-Length: 5\r\n\r\n`,
  'a malformed trailer': (w) => `${chunk(w.body(1))}0\r\nno colon\r\n\r\n`,
  'a request in the trailer': (w) => `${chunk(w.body(1))}0\r\n${hidden(w)}`,
  'a second body': (w) => `${chunked(w)}${chunk(w.body(2))}0\r\n\r\n`,
}
const size = (w: CaseContext) => w.body(1).length.toString(16)
const big = (w: CaseContext) => BigInt(w.body(1).length)

const at = (target: string) => (w: CaseContext) => `POST ${target}?${w.mark(1)} HTTP/1.1`
const version = (text: string) => (w: CaseContext) => `POST /v1/messages?${w.mark(1)}${text}`

const requestLines: Record<string, (context: CaseContext) => string> = {
  'absolute form': at(`https://${API_HOST}/v1/messages`),
  'absolute form, http': at(`http://${API_HOST}/v1/messages`),
  'absolute form, another host': at('http://127.0.0.1/v1/messages'),
  'absolute form, with a user': at(`http://a@${API_HOST}/v1/messages`),
  'authority form': () => `CONNECT ${API_HOST}:443 HTTP/1.1`,
  'asterisk form': () => 'OPTIONS * HTTP/1.1',
  'HTTP/1.0': version(' HTTP/1.0'),
  'HTTP/0.9': version(''),
  'HTTP/1.2': version(' HTTP/1.2'),
  'HTTP/2.0': version(' HTTP/2.0'),
  'HTTP/1.10': version(' HTTP/1.10'),
  'HTTP/01.1': version(' HTTP/01.1'),
  'http/1.1': version(' http/1.1'),
  'two spaces before the version': version('  HTTP/1.1'),
  'a tab before the version': version('\tHTTP/1.1'),
  'a space after the version': version(' HTTP/1.1 '),
  'two versions': version(' HTTP/1.1 HTTP/1.1'),
  'a header in the line': version(' HTTP/1.1\nX-Api-Key: x'),
  'a bare CR in the line': version('\r HTTP/1.1'),
  'a small method': (w) => `post /v1/messages?${w.mark(1)} HTTP/1.1`,
  'an unknown method': (w) => `BREW /v1/messages?${w.mark(1)} HTTP/1.1`,
  'a method with a NUL': (w) => `PO\0ST /v1/messages?${w.mark(1)} HTTP/1.1`,
  'GET with a body': (w) => `GET /v1/messages?${w.mark(1)} HTTP/1.1`,
  'TRACE with a body': (w) => `TRACE /v1/messages?${w.mark(1)} HTTP/1.1`,
  'HEAD with a body': (w) => `HEAD /v1/messages?${w.mark(1)} HTTP/1.1`,
  'spaces before the method': (w) => `  POST /v1/messages?${w.mark(1)} HTTP/1.1`,
  'empty lines before': (w) => `\r\n\r\nPOST /v1/messages?${w.mark(1)} HTTP/1.1`,
  'no slash': at('v1/messages'),
  'two slashes': at('//v1//messages'),
  dots: at('/a/../v1/messages'),
  'encoded dots': at('/a/%2e%2e/v1/messages'),
  'an encoded slash': at('/v1%2fmessages'),
  'a backslash': at('/v1\\messages'),
  'a fragment': at('/v1/messages#a'),
  'a NUL in the path': at('/v1/messages\0'),
  'an encoded NUL': at('/v1/messages%00'),
  'a wrong escape': at('/v1/messages%zz'),
  'a letter that is not ASCII': at('/v1/messages\xe9'),
  'a space in the path': at('/v1/mess ages'),
  'a semicolon': at('/v1/messages;a=b'),
  'a path of 9 KB': at(`/v1/messages/${'a'.repeat(9_000)}`),
  'a path of 64 KB': at(`/v1/messages/${'a'.repeat(64_000)}`),
}

const hosts: Record<string, readonly string[]> = {
  'no host': [],
  'an empty host': ['Host:'],
  'the host twice': [HOST, HOST],
  'two hosts': [HOST, 'Host: 127.0.0.1'],
  'two hosts, ours last': ['Host: 127.0.0.1', HOST],
  'another host': ['Host: 127.0.0.1'],
  'the host of the cabinet': ['Host: cabinet.example.com'],
  'a host with a port': [`${HOST}:443`],
  'a host with two ports': [`${HOST}:443:80`],
  'a host with a path': [`${HOST}/v1`],
  'a host with a user': ['Host: a@api.example.com'],
  'a host with a NUL': ['Host: api.example.com\0'],
  'a host with a space': ['Host: api.example .com'],
  'a host in capitals': [HOST.toUpperCase()],
  'a host with a dot at its end': [`${HOST}.`],
  'a list of hosts': [`${HOST}, 127.0.0.1`],
  'a host on a folded line': ['Host:', ` ${API_HOST}`],
}

const credentials: Record<string, (context: CaseContext) => readonly string[]> = {
  'no key': () => [],
  'an empty key': () => ['X-Api-Key:'],
  'the key twice': ({ key }) => [`X-Api-Key: ${key}`, `X-Api-Key: ${key}`],
  'two keys': ({ key, otherKey }) => [`X-Api-Key: ${key}`, `X-Api-Key: ${otherKey}`],
  'two keys, one empty': ({ key }) => ['X-Api-Key:', `X-Api-Key: ${key}`],
  'a list of keys': ({ key, otherKey }) => [`X-Api-Key: ${key}, ${otherKey}`],
  'two bearers': ({ key, otherKey }) => [bearer(key), bearer(otherKey)],
  'a bearer after an empty one': ({ key }) => ['Authorization:', bearer(key)],
  'key and bearer alike': ({ key }) => [`X-Api-Key: ${key}`, bearer(key)],
  'key and bearer of two': ({ key, otherKey }) => [`X-Api-Key: ${key}`, bearer(otherKey)],
  'bearer and key of two': ({ key, otherKey }) => [bearer(otherKey), `X-Api-Key: ${key}`],
  'a bearer in capitals': ({ key }) => [`AUTHORIZATION: BEARER ${key}`],
  'a bearer with spaces': ({ key }) => [`Authorization:   Bearer   ${key}  `],
  'a bearer with a tab': ({ key }) => [`Authorization:\tBearer\t${key}\t`],
  'a basic credential': () => ['Authorization: Basic YTpi'],
  'an underscore': ({ key }) => [`X_Api_Key: ${key}`],
  'an underscore beside another': ({ key, otherKey }) => [
    `X_Api_Key: ${key}`,
    `X-Api-Key: ${otherKey}`,
  ],
  'a space before the colon': ({ key }) => [`X-Api-Key : ${key}`],
  'a space before the name': ({ key }) => [` X-Api-Key: ${key}`],
  'a folded line': ({ key }) => ['X-Api-Key:', ` ${key}`],
  'another folded to it': ({ key, otherKey }) => [`X-Api-Key: ${key}`, ` ${otherKey}`],
  'a NUL in the name': ({ key }) => [`X-Api-\0Key: ${key}`],
  'a NUL after it': ({ key }) => [`X-Api-Key: ${key}\0`],
  'a CR after it': ({ key, otherKey }) => [`X-Api-Key: ${key}\rX-Api-Key: ${otherKey}`],
  'an LF after it': ({ key, otherKey }) => [`X-Api-Key: ${key}\nX-Api-Key: ${otherKey}`],
  'a letter that is not ASCII': ({ key }) => [`X-Api-Key: ${key}\xe9`],
  'percent signs': ({ key }) => [`X-Api-Key: ${key.replaceAll('-', '%2d')}`],
}
const bearer = (key: string) => `Authorization: Bearer ${key}`

const headers: Record<string, readonly string[]> = {
  'a line without a colon': ['no colon'],
  'an empty name': [': value'],
  'a name of dots': ['..: value'],
  'a name with a space': ['X A: b'],
  'a name that is not ASCII': ['X-\xe9: b'],
  'a name in brackets': ['(X): b'],
  'a value with a NUL': ['X-A: b\0c'],
  'a value with DEL': ['X-A: b\x7f'],
  'a value with a bell': ['X-A: b\x07'],
  'a value with a bare CR': ['X-A: b\rc'],
  'a folded line': ['X-A: b', ' c'],
  'a line folded by a tab': ['X-A: b', '\tc'],
  'only spaces': ['X-A:    '],
  'one of 16 KB': [`X-A: ${'a'.repeat(16_000)}`],
  'one of 40 KB': [`X-A: ${'a'.repeat(40_000)}`],
  'one of 64 KB': [`X-A: ${'a'.repeat(65_536)}`],
  '64 KB in all': Array.from({ length: 64 }, (_, i) => `X-A-${i}: ${'a'.repeat(1_000)}`),
  '3,000 of them': Array.from({ length: 3_000 }, (_, i) => `X-A-${i}: b`),
  'connection names the key': ['Connection: X-Api-Key'],
  'connection names the length': ['Connection: Content-Length'],
  'connection names the address': ['Connection: X-Real-IP, X-Forwarded-For'],
  'connection: close': ['Connection: close'],
  'connection: keep-alive': ['Connection: keep-alive'],
  'an upgrade to h2c': ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: A'],
  'an upgrade to a websocket': ['Connection: Upgrade', 'Upgrade: websocket'],
  'expect: 100-continue': ['Expect: 100-continue'],
  'expect: something': ['Expect: something'],
  'TE: trailers': ['TE: trailers'],
  'a trailer announced': ['Trailer: X-Api-Key'],
  'proxy-connection': ['Proxy-Connection: keep-alive'],
  'an address of its own': ['X-Real-IP: 203.0.113.9', 'X-Forwarded-For: 203.0.113.9'],
  'an address with an underscore': ['X_Real_IP: 203.0.113.9'],
  forwarded: ['Forwarded: for=203.0.113.9;host=127.0.0.1;proto=http'],
  'another method': ['X-HTTP-Method-Override: GET'],
  'another path': ['X-Original-URL: /v1/me', 'X-Rewrite-URL: /v1/me'],
  'a content type twice': ['Content-Type: text/plain'],
  'an encoding': ['Content-Encoding: gzip'],
  'a range': ['Range: bytes=0-1'],
}

const edits: Record<string, (text: string) => string> = {
  'LF for all line ends': (text) => text.replaceAll('\r\n', '\n'),
  'LF for the last line end': (text) => text.replace('\r\n\r\n', '\r\n\n'),
  'LF CR': (text) => text.replace('\r\n\r\n', '\n\r\n'),
  'CR for all line ends': (text) => text.replaceAll('\r\n', '\r'),
  'CR CR LF': (text) => text.replace('\r\n', '\r\r\n'),
  'nothing after the head': (text) => text.slice(0, text.indexOf('\r\n\r\n')),
  'a byte order mark': (text) => `\xef\xbb\xbf${text}`,
  'a PROXY line': (text) => `PROXY TCP4 203.0.113.9 127.0.0.1 1 1\r\n${text}`,
  'the preface of HTTP/2': (text) => `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${text}`,
}

function named<T>(of: string, table: Record<string, T>, parts: (entry: T) => Parts): Case[] {
  return Object.entries(table).map(([name, entry]) => ({
    name: `${of}: ${name}`,
    bytes: write(parts(entry)),
  }))
}

/** All cases, always in the same order. */
export function listCases(): Case[] {
  return [
    ...framings(),
    ...named('chunks', chunkings, (payload) => ({ framing: () => CHUNKED, payload })),
    ...named('request line', requestLines, (line) => ({ line })),
    ...named('host', hosts, (host) => ({ host })),
    ...named('credential', credentials, (auth) => ({ auth })),
    ...named('header', headers, (more) => ({ more })),
    ...named('line ends', edits, (edit) => ({ edit })),
  ]
}
