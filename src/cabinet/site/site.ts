// The public pages as HTML with their text, so that search engines, previews of links and readers
// without JavaScript see them. The renderer comes with the built pages (contract/rendering.ts);
// this file decides which request gets which page, in which language, and keeps it for a while.
// Browsers with a session get index.html and render by themselves: a page with an owner's data is
// never kept.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { FastifyRequest } from 'fastify'
import { hasSessionCookie } from '../../accounts/accounts.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log.ts'
import { type MadePage, type Page, type PageFor, pageOf } from '../../platform/server/pages.ts'
import type { Language } from '../contract/contract.ts'
import type { CreateRenderer, PageRenderer, PublicRead } from '../contract/rendering.ts'
import type { Documents } from '../documents.ts'
import { manifest, robotsText, siteMap } from './crawlers.ts'
import { headOf } from './head.ts'
import { acceptedLanguage, cookieFor, languageIn } from './language.ts'
import { openTemplate, type Template } from './template.ts'

type SiteOptions = {
  readonly clock: Clock
  readonly log: Log
  /** The public address of the cabinet. */
  readonly cabinetUrl: string
  readonly name: string
  readonly documents: Documents
  readonly read: PublicRead
}

/**
 * Rendering takes 10 to 60 ms, and there are some hundred pages with their languages and addresses:
 * reading all of them over and over takes 3 to 20 % of a processor, and usual readers far less.
 */
const KEPT_MS = 30_000
const HTML = 'text/html; charset=utf-8'
const VARY = 'accept-language, cookie'

type Site = SiteOptions & {
  readonly origin: string
  readonly renderer: PageRenderer
  readonly template: Template
}

/** For pagesPlugin: `directory` has the built pages. */
export async function openSite(
  options: SiteOptions,
  directory: string,
  indexHtml: string,
): Promise<PageFor> {
  const { log, documents } = options
  const file = join(directory, 'server/render.js')
  if (!existsSync(file)) {
    log.warn({ file }, 'the page renderer is not built: pages are rendered by browsers only')
    return async () => undefined
  }
  const built = (await import(pathToFileURL(file).href)) as { createRenderer: CreateRenderer }
  const renderer = built.createRenderer(options.read)
  const { origin } = new URL(options.cabinetUrl)
  const site: Site = { ...options, origin, renderer, template: openTemplate(indexHtml) }
  const listed = [
    ...renderer.paths,
    ...documents.list().map(({ document }) => `/documents/${document}`),
  ]
  const moved = new Map(Object.entries(renderer.moved))
  const rendered = new Set([...listed, ...renderer.unlisted])
  const files = new Map<string, Page>([
    ['/robots.txt', pageOf(robotsText(origin), 'text/plain; charset=utf-8')],
    ['/sitemap.xml', pageOf(siteMap(origin, listed), 'application/xml; charset=utf-8')],
    ['/site.webmanifest', pageOf(manifest(options.name), 'application/manifest+json')],
  ])
  const isByBrowsers = pathMatcher(renderer.byBrowsers)
  const isPage = (path: string) => rendered.has(path) || isByBrowsers(path)
  const pageFor = keepPages(site)

  return async (request) => {
    // Not a URL: anybody may ask for `//[`, which is none.
    const [path = '/', ...query] = request.url.split('?')
    const file = files.get(path)
    if (file !== undefined) return { page: file }
    const movedTo = moved.get(path)
    if (movedTo !== undefined) return { movedTo }
    if (!isPage(path)) {
      const withoutSlash = path.replace(/\/$/, '')
      return isPage(withoutSlash) ? { movedTo: withoutSlash } : { isMissing: true }
    }
    if (!rendered.has(path) || hasSessionCookie(request.headers.cookie ?? '')) return undefined
    return pageFor(request, path, new URLSearchParams(query.join('?')))
  }
}

/** Tells whether a path is one of these; `$name` in them stands for any part. */
function pathMatcher(paths: readonly string[]): (path: string) => boolean {
  const patterns = paths.map((path) => new RegExp(`^${path.replaceAll(/\$\w+/g, '[^/]+')}$`, 'i'))
  return (path) => patterns.some((pattern) => pattern.test(path))
}

/** Renders each page once for its readers of the next half minute. */
function keepPages(site: Site) {
  const { clock, log, renderer } = site
  // Bounded: the pages that exist, in two languages, each with and without ?lang and a query.
  const kept = new Map<
    string,
    { readonly page: Promise<Page | undefined>; readonly atMs: number }
  >()

  return async (
    request: FastifyRequest,
    path: string,
    search: URLSearchParams,
  ): Promise<MadePage | undefined> => {
    const explicit = languageIn(search.get('lang'))
    const chosen = languageIn(request.headers.cookie, 'cookie')
    const language = explicit ?? chosen ?? acceptedLanguage(request.headers['accept-language'])
    const isExplicit = explicit !== undefined
    // What such a page shows depends on its query: the browser renders it, under the same head.
    const isBare = renderer.withQuery.includes(path) && hasQuery(search)
    const wanted = { path, language, isExplicit, isBare }
    const key = JSON.stringify(wanted)
    const nowMs = clock.spanMs()
    const last = kept.get(key)
    const isFresh = last !== undefined && nowMs - last.atMs < KEPT_MS
    const page = isFresh
      ? last.page
      : make(site, wanted).catch((error: unknown) => {
          log.error({ err: error, path }, 'a page could not be rendered: browsers render it')
          return undefined
        })
    if (!isFresh) kept.set(key, { page, atMs: nowMs })
    const made = await page
    if (made === undefined) return undefined
    const isNew = isExplicit && explicit !== chosen
    return { page: made, vary: VARY, ...(isNew && { cookie: cookieFor(explicit) }) }
  }
}

async function make(
  { renderer, template, origin, name }: Site,
  wanted: {
    readonly path: string
    readonly language: Language
    readonly isExplicit: boolean
    readonly isBare: boolean
  },
): Promise<Page | undefined> {
  const { path, language, isBare } = wanted
  const rendered = await renderer.render(path, language)
  if (rendered === undefined) return undefined
  const { title, description, html, state } = rendered
  const head = headOf({ ...wanted, origin, siteName: name, title, description })
  const isListed = !isBare && !renderer.unlisted.includes(path)
  return pageOf(
    template.fill({ language, head, isListed, ...(isBare ? {} : { body: { html, state } }) }),
    HTML,
  )
}

function hasQuery(search: URLSearchParams): boolean {
  return [...search.keys()].some((name) => name !== 'lang')
}
