// The web application: files of one directory, read into memory at the start, so that no path of a
// request ever reaches the disk. Every path that is not a file is the application's own page, whose
// router knows what to show. The pages may load and run only what came from here.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join, relative, sep } from 'node:path'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Log } from '../platform/log.ts'
import { OwnNo } from './answers.ts'
import type { Part } from './part.ts'

const kinds: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
}

/** Smaller and first: Brotli, where a browser takes it. */
const encodings = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const
type Encoding = (typeof encodings)[number][0]

type Page = {
  readonly kind: string
  readonly bytes: Buffer
  readonly packed: Partial<Readonly<Record<Encoding, Buffer>>>
  readonly etag: string
  readonly isForever: boolean
}

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "manifest-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  // Text never becomes script or markup by assignment, not even in a library; and no code of ours
  // needs a policy of its own to do so.
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join(';')

/** What a page of ours never asks for, so that no script on it can. */
const PERMISSIONS = ['camera', 'microphone', 'geolocation', 'payment', 'usb', 'clipboard-read']
  .map((name) => `${name}=()`)
  .join(', ')

/** Paths that are not pages, whatever stands behind them. */
const NOT_PAGES = /^\/(?:api|notifications|assets)(?:\/|$)/

/** Without built pages none are served, and /api works all the same; so it does for `none`. */
export function pagesPart(directory: string, log: Log): Part {
  return (app) => {
    // Here and not above: only a process that serves the cabinet reads its pages.
    const pages = existsSync(directory) ? readPages(directory) : new Map<string, Page>()
    const own = pages.get('/index.html')
    if (own === undefined) {
      if (directory !== 'none') log.warn({ directory }, 'the pages are not built: none are served')
      return
    }
    app.get('/*', (request, reply) => {
      const path = request.url.split('?', 1)[0] ?? '/'
      const page = pages.get(path)
      if (page !== undefined) return answer(request, reply, page)
      if (NOT_PAGES.test(path)) throw new OwnNo('path_unknown', 'There is no such path.')
      return answer(request, reply, own)
    })
  }
}

function answer(request: FastifyRequest, reply: FastifyReply, page: Page): FastifyReply {
  reply.headers({
    'content-security-policy': POLICY,
    'permissions-policy': PERMISSIONS,
    // A hashed name means one content for ever; everything else is asked about each time.
    'cache-control': page.isForever ? 'public, max-age=31536000, immutable' : 'no-cache',
    etag: page.etag,
    vary: 'accept-encoding',
  })
  if (request.headers['if-none-match'] === page.etag) return reply.code(304).send()
  const encoding = encodingFor(request.headers['accept-encoding'], page)
  if (encoding !== undefined) reply.header('content-encoding', encoding)
  const bytes = (encoding && page.packed[encoding]) ?? page.bytes
  return reply.type(page.kind).send(bytes)
}

function encodingFor(accepted: string | undefined, { packed }: Page): Encoding | undefined {
  const taken = (accepted ?? '')
    .split(',')
    .map((one) => one.trim().toLowerCase())
    .filter((one) => !/;\s*q=0(?:\.0*)?$/.test(one))
    .map((one) => one.split(';', 1)[0])
  return encodings
    .map(([name]) => name)
    .find((name) => packed[name] !== undefined && taken.includes(name))
}

function readPages(directory: string): ReadonlyMap<string, Page> {
  const names = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)))
  const pages = new Map<string, Page>()
  for (const name of names) {
    const kind = kinds[extname(name)]
    // Maps of the source and packed copies are not pages of their own.
    if (kind === undefined) continue
    const bytes = readFileSync(join(directory, name))
    const packed = encodings
      .filter(([, end]) => names.includes(`${name}${end}`))
      .map(([encoding, end]) => [encoding, readFileSync(join(directory, `${name}${end}`))])
    const path = `/${name.split(sep).join('/')}`
    pages.set(path, {
      kind,
      bytes,
      packed: Object.fromEntries(packed) as Page['packed'],
      // Weak, because the packed copies share it.
      etag: `W/"${createHash('sha256').update(bytes).digest('base64url').slice(0, 27)}"`,
      isForever: path.startsWith('/assets/'),
    })
  }
  return pages
}
