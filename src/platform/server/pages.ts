// The web application: files of one directory, read into memory at the start, so that no path of a
// request reaches the disk. Every other path gets index.html, whose router decides what to show,
// unless `pageFor` has a page of its own for the request; with 404 where `pageFor` knows that no
// page has this address. The pages may load and run only files from this server.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join, relative, sep } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Log } from '../log.ts'
import type { Plugin } from './plugin.ts'

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

/** In order of preference: Brotli is smaller. */
const encodings = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const
type Encoding = (typeof encodings)[number][0]

export type Page = {
  readonly kind: string
  readonly bytes: Buffer
  readonly packed: Partial<Readonly<Record<Encoding, Buffer>>>
  readonly etag: string
  readonly isImmutable: boolean
}

/** A page made for one request. */
export type MadePage = {
  readonly page: Page
  /** Request headers besides accept-encoding on which the page depends. */
  readonly vary?: string
  readonly cookie?: string
}
/** A path whose page has another address; the query goes along. */
export type MovedPage = { readonly movedTo: string }
/** A path that no page has: index.html says so, and the answer too, to search engines. */
export type MissingPage = { readonly isMissing: true }
/** Makes a page from index.html; undefined for requests that get a file or index.html itself. */
export type PageFor = (
  request: FastifyRequest,
) => Promise<MadePage | MovedPage | MissingPage | undefined>

/** `connectTo`: the only other origin that scripts of the pages may send requests to. */
const policyOf = (connectTo: string | undefined) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    `connect-src 'self'${connectTo === undefined ? '' : ` ${connectTo}`}`,
    "font-src 'self'",
    "manifest-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    // No text becomes script or markup by assignment, not even in a library, and no trusted-types
    // policy may be created.
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join(';')

/** Permissions that our pages never use, so that no script on them can. */
const PERMISSIONS = ['camera', 'microphone', 'geolocation', 'payment', 'usb', 'clipboard-read']
  .map((name) => `${name}=()`)
  .join(', ')

/** Paths that never get index.html. */
const NOT_PAGES = /^\/(?:api|notifications|assets)(?:\/|$)/
/** Code for the server, which lies beside the pages. */
const SERVER_CODE = `server${sep}`
/**
 * Nine tenths of what the best setting saves, in a tenth of its time: pages are made while served.
 */
const BROTLI_QUALITY = 5

/** Serves nothing for `none` or when the pages are not built; /api works without them. */
export function pagesPlugin(
  directory: string,
  log: Log,
  {
    connectTo,
    openPages,
  }: {
    readonly connectTo?: string
    readonly openPages?: (directory: string, indexHtml: string) => Promise<PageFor>
  } = {},
): Plugin {
  const policy = policyOf(connectTo)
  return async (app) => {
    // Inside the plugin: only a process that serves the pages reads them.
    const pages = existsSync(directory) ? readPages(directory) : new Map<string, Page>()
    const own = pages.get('/index.html')
    if (own === undefined) {
      if (directory !== 'none') log.warn({ directory }, 'the pages are not built: none are served')
      return
    }
    const pageFor = await openPages?.(directory, own.bytes.toString())
    app.get('/*', async (request, reply) => {
      const path = request.url.split('?', 1)[0] ?? '/'
      const made = await pageFor?.(request)
      if (made !== undefined && 'movedTo' in made) {
        return reply.redirect(`${made.movedTo}${request.url.slice(path.length)}`)
      }
      if (made !== undefined && 'page' in made) {
        return answer(request, reply, made.page, policy, made)
      }
      const page = pages.get(path)
      if (page !== undefined) return answer(request, reply, page, policy)
      if (NOT_PAGES.test(path)) return reply.callNotFound()
      return answer(request, reply.code(made === undefined ? 200 : 404), own, policy)
    })
  }
}

function answer(
  request: FastifyRequest,
  reply: FastifyReply,
  page: Page,
  policy: string,
  { vary, cookie }: Pick<MadePage, 'vary' | 'cookie'> = {},
): FastifyReply {
  reply.headers({
    'content-security-policy': policy,
    'permissions-policy': PERMISSIONS,
    // A file with a hash in its name never changes; browsers revalidate all others each time.
    'cache-control': page.isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    etag: page.etag,
    vary: vary === undefined ? 'accept-encoding' : `accept-encoding, ${vary}`,
    ...(cookie !== undefined && { 'set-cookie': cookie }),
  })
  const isKnown = request.headers['if-none-match'] === page.etag
  if (isKnown && reply.statusCode === 200) return reply.code(304).send()
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
    .filter((name) => !name.startsWith(SERVER_CODE))
  const pages = new Map<string, Page>()
  for (const name of names) {
    const kind = kinds[extname(name)]
    // Source maps and compressed copies are not served by their own paths.
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
      etag: etagOf(bytes),
      isImmutable: path.startsWith('/assets/'),
    })
  }
  return pages
}

/** A page whose text is made at run time, with its compressed copies. */
export function pageOf(text: string, kind: string): Page {
  const bytes = Buffer.from(text)
  const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY }
  const packed = { br: brotliCompressSync(bytes, { params }), gzip: gzipSync(bytes) }
  return { kind, bytes, packed, etag: etagOf(bytes), isImmutable: false }
}

/** Weak, because the compressed copies share it. */
function etagOf(bytes: Buffer): string {
  return `W/"${createHash('sha256').update(bytes).digest('base64url').slice(0, 27)}"`
}
