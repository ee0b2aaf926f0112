// What search engines and previews of links read in the head of a public page: title, description,
// address, the addresses of its languages, and a picture.
import { escapeHtml } from '../../platform/html.ts'
import type { Language } from '../contract/contract.ts'

export const languages = ['ru', 'en'] as const satisfies readonly Language[]

/** Sizes of web/public/preview-*.png, as Open Graph and its readers recommend. */
const PICTURE = { width: 1200, height: 630 }

/** The page with a feed, which feed readers look for here. */
const STATUS = '/status'

type PageHead = {
  /** `https://example.org`. */
  readonly origin: string
  readonly path: string
  readonly language: Language
  /** Whether the address names the language. */
  readonly isExplicit: boolean
  readonly siteName: string
  readonly title: string
  readonly description: string
}

/** The address of a page, in a language or in that of its reader. */
export function addressIn(origin: string, path: string, language?: Language): string {
  return `${origin}${path}${language === undefined ? '' : `?lang=${language}`}`
}

export function headOf(head: PageHead): string {
  const { origin, path, language, title, description } = head
  const address = addressIn(origin, path, head.isExplicit ? language : undefined)
  const picture = `${origin}/preview-${language}.png`
  const og: Readonly<Record<string, string>> = {
    'og:type': 'website',
    'og:site_name': head.siteName,
    'og:title': title,
    'og:description': description,
    'og:url': address,
    'og:locale': localeOf(language),
    'og:image': picture,
    'og:image:type': 'image/png',
    'og:image:width': String(PICTURE.width),
    'og:image:height': String(PICTURE.height),
    'og:image:alt': title,
  }
  const twitter: Readonly<Record<string, string>> = {
    'twitter:card': 'summary_large_image',
    'twitter:title': title,
    'twitter:description': description,
    'twitter:image': picture,
  }
  return [
    `<title>${escapeHtml(title)}</title>`,
    meta('name', 'description', description),
    `<link rel="canonical" href="${escapeHtml(address)}">`,
    ...languages.map((one) => alternate(one, addressIn(origin, path, one))),
    alternate('x-default', addressIn(origin, path)),
    ...(path === STATUS ? languages.map((one) => feed(origin, one)) : []),
    ...Object.entries(og).map(([name, content]) => meta('property', name, content)),
    ...languages
      .filter((one) => one !== language)
      .map((one) => meta('property', 'og:locale:alternate', localeOf(one))),
    ...Object.entries(twitter).map(([name, content]) => meta('name', name, content)),
  ].join('\n    ')
}

function meta(kind: 'name' | 'property', name: string, content: string): string {
  return `<meta ${kind}="${name}" content="${escapeHtml(content)}">`
}

function alternate(language: string, address: string): string {
  return `<link rel="alternate" hreflang="${language}" href="${escapeHtml(address)}">`
}

function feed(origin: string, language: Language): string {
  const address = escapeHtml(`${origin}/status.xml${language === 'en' ? '?lang=en' : ''}`)
  const type = 'application/atom+xml'
  return `<link rel="alternate" type="${type}" hreflang="${language}" href="${address}">`
}

function localeOf(language: Language): string {
  return language === 'ru' ? 'ru_RU' : 'en_GB'
}
