// The entry file: a mail server that stores e-mails and shows them. Product code and tests reach it
// by SMTP and HTTP only; this file has the HTTP routes and starts and stops the two servers.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CatchingOptions, startCatching } from './catching.ts'
import { createFaults, type Fault, type Faults, readFaults } from './faults.ts'
import { createLetters, type Letter, type Letters, type Search } from './letters.ts'
import { framedHtml, mailboxPage, pagePolicy, samplesPage } from './page.ts'
import { createSamples, inTheme, readSamples, type Samples } from './samples.ts'

export type MailboxOptions = {
  /** 0, the default, takes a free port. */
  readonly smtpPort?: number
  readonly port?: number
  readonly host?: string
  /** Above this the oldest are deleted; e-mails are a few KiB, so 1,000 are a few MiB. */
  readonly lettersMax?: number
} & Pick<CatchingOptions, 'login' | 'tls'>

export type Mailbox = {
  /** In the format of mail.smtpUrl. */
  readonly smtpUrl: string
  /** The page and the API, without a slash at the end. */
  readonly url: string
  /** Newest first. */
  list(search?: Search): Letter[]
  /** Resolves as soon as an e-mail matches; empty when none came in time. */
  wait(search: Search, waitMs: number): Promise<Letter[]>
  /** Replaces all faults; without arguments, none. */
  faults(...faults: readonly Fault[]): void
  clear(): void
  /** Closes every connection and stops. May be called again. */
  close(): Promise<void>
}

/** HTTP clients would time out before a longer wait ends. */
const WAIT_MS_MAX = 60_000

/** Both servers listen before it resolves. */
export async function startMailbox(options: MailboxOptions = {}): Promise<Mailbox> {
  const host = options.host ?? '127.0.0.1'
  const letters = createLetters(options.lettersMax ?? 1_000)
  const faults = createFaults()
  const samples = createSamples()
  const smtp = await startCatching(
    {
      port: options.smtpPort ?? 0,
      host,
      ...(options.login && { login: options.login }),
      ...(options.tls && { tls: options.tls }),
    },
    { letters, faults },
  )
  const server = createServer((request, response) => {
    serve(request, response, { letters, faults, samples }).catch((error: unknown) => {
      console.error('mailbox stand-in:', error)
      response.destroy()
    })
  })
  server.listen(options.port ?? 0, host)
  await once(server, 'listening')
  // Safe: a server that listens on a port has an address of this kind.
  const { port } = server.address() as AddressInfo
  const name = host.includes(':') ? `[${host}]` : host
  const login =
    options.login && `${options.login.user}:${encodeURIComponent(options.login.password)}@`
  const closing: { done?: Promise<void> } = {}
  return {
    smtpUrl: `smtp://${login ?? ''}${name}:${smtp.port}${options.tls ? '' : '?starttls=never'}`,
    url: `http://${name}:${port}`,
    list: letters.list,
    wait: letters.wait,
    faults: faults.set,
    clear: letters.clear,
    close() {
      closing.done ??= Promise.all([closeServer(server), smtp.close()]).then(() => undefined)
      return closing.done
    },
  }
}

async function closeServer(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
}

type Parts = {
  readonly letters: Letters
  readonly faults: Faults
  readonly samples: Samples
}

async function serve(request: IncomingMessage, response: ServerResponse, parts: Parts) {
  const url = new URL(request.url ?? '/', 'http://mailbox')
  const [, id, form] = /^\/letters\/(\d+)(?:\/(html|raw))?$/.exec(url.pathname) ?? []
  if (url.pathname.startsWith('/api/')) return serveApi(request, response, url, parts)
  if (request.method !== 'GET') return sendJson(response, 405, { error: 'use GET' })
  if (url.pathname.startsWith('/samples')) return serveSamples(response, url, parts)
  const kept = id === undefined ? undefined : parts.letters.one(Number(id))
  if (url.pathname === '/' || (kept !== undefined && form === undefined)) {
    const { nonce, policy } = pagePolicy()
    const opened = kept?.letter
    const page = mailboxPage({
      letters: parts.letters.list(),
      lastId: parts.letters.lastId(),
      samples: parts.samples.list().length,
      nonce,
      ...(opened && { opened }),
    })
    return send(response, 200, 'text/html; charset=utf-8', page, policy)
  }
  if (kept !== undefined && form === 'raw') {
    return send(response, 200, 'text/plain; charset=utf-8', kept.raw)
  }
  if (kept !== undefined && kept.letter.html !== null) {
    const { html, policy } = framedHtml(kept.letter.html)
    return send(response, 200, 'text/html; charset=utf-8', html, policy)
  }
  return sendJson(response, 404, { error: 'there is no such e-mail' })
}

/** The page of one sample, and its HTML in a theme. */
function serveSamples(response: ServerResponse, url: URL, { samples }: Parts) {
  const [, id = '0', theme] = /^\/samples(?:\/(\d+)(?:\/(light|dark))?)?$/.exec(url.pathname) ?? []
  const shown = samples.one(Number(id))
  if (shown === undefined) return sendJson(response, 404, { error: 'there is no such sample' })
  if (theme === 'light' || theme === 'dark') {
    const { html, policy } = framedHtml(inTheme(shown.html, theme))
    return send(response, 200, 'text/html; charset=utf-8', html, policy)
  }
  const page = samplesPage(samples.list(), Number(id), url.pathname === '/samples')
  return send(response, 200, 'text/html; charset=utf-8', page, pagePolicy().policy)
}

async function serveApi(
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  { letters, faults, samples }: Parts,
) {
  const one = /^\/api\/letters\/(\d+)$/.exec(url.pathname)?.[1]
  if (request.method === 'GET' && one !== undefined) {
    const kept = letters.one(Number(one))
    return kept === undefined
      ? sendJson(response, 404, { error: 'there is no such e-mail' })
      : sendJson(response, 200, kept.letter)
  }
  switch (`${request.method} ${url.pathname}`) {
    case 'GET /api/letters': {
      const gone = new AbortController()
      response.once('close', () => gone.abort())
      const waitMs = Math.min(Number(url.searchParams.get('waitMs') ?? 0) || 0, WAIT_MS_MAX)
      const found = await letters.wait(searchOf(url), waitMs, gone.signal)
      return sendJson(response, 200, { letters: found, lastId: letters.lastId() })
    }
    case 'DELETE /api/letters':
      letters.clear()
      return sendJson(response, 200, { letters: [], lastId: letters.lastId() })
    case 'PUT /api/samples':
      try {
        samples.set(readSamples(JSON.parse(await bodyOf(request))))
      } catch (error) {
        return sendJson(response, 400, { error: (error as Error).message })
      }
      return sendJson(response, 200, { samples: samples.list().length })
    case 'GET /api/faults':
      return sendJson(response, 200, { faults: faults.list() })
    case 'PUT /api/faults':
      try {
        faults.set(...readFaults(JSON.parse(await bodyOf(request))))
      } catch (error) {
        return sendJson(response, 400, { error: (error as Error).message })
      }
      return sendJson(response, 200, { faults: faults.list() })
    case 'DELETE /api/faults':
      faults.set()
      return sendJson(response, 200, { faults: [] })
    default:
      return sendJson(response, 404, { error: 'unknown path; README.md lists the API' })
  }
}

function searchOf({ searchParams }: URL): Search {
  const to = searchParams.get('to')
  const kind = searchParams.get('kind')
  const after = searchParams.get('after')
  return {
    ...(to !== null && { to }),
    ...(kind !== null && { kind }),
    ...(after !== null && { after: Number(after) }),
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  return Buffer.concat(await Array.fromAsync(request)).toString()
}

function sendJson(response: ServerResponse, status: number, value: object): void {
  send(response, status, 'application/json', JSON.stringify(value))
}

function send(
  response: ServerResponse,
  status: number,
  type: string,
  body: string | Buffer,
  policy = "default-src 'none'",
): void {
  response.writeHead(status, {
    'content-type': type,
    'content-security-policy': policy,
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  })
  response.end(body)
}
