// The files that programs read, with the address and the name of this installation: the site map,
// the rules for search engines, and the manifest of the icons.
import { escapeHtml } from '../../platform/html.ts'
import { addressIn, languages } from './head.ts'

/** Pages that need the code of an e-mail, and the API. `/confirm` is the start of two of them. */
const HIDDEN = [
  ...['/api/', '/confirm', '/invitation', '/reset', '/email', '/undo-email', '/mail'],
  ...['/recover', '/finish-recovery', '/stop-recovery', '/unsubscribe'],
]

export function robotsText(origin: string): string {
  return [
    '# Pages for everybody may be found; links of e-mails show nothing without their code.',
    'User-agent: *',
    ...HIDDEN.map((path) => `Disallow: ${path}`),
    '',
    `Sitemap: ${origin}/sitemap.xml`,
    '',
  ].join('\n')
}

/** Every page in every language, each with the addresses of the others. */
export function siteMap(origin: string, paths: readonly string[]): string {
  const urls = paths.flatMap((path) => {
    const links = [...languages, undefined].map(
      (one) =>
        `<xhtml:link rel="alternate" hreflang="${one ?? 'x-default'}" ` +
        `href="${escapeHtml(addressIn(origin, path, one))}"/>`,
    )
    return [...languages, undefined].map(
      (one) => `<url><loc>${escapeHtml(addressIn(origin, path, one))}</loc>${links.join('')}</url>`,
    )
  })
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"' +
      ' xmlns:xhtml="http://www.w3.org/1999/xhtml">',
    ...urls,
    '</urlset>',
    '',
  ].join('\n')
}

export function manifest(name: string): string {
  const icons = [192, 512].map((size) => ({
    src: `/icon-${size}.png`,
    sizes: `${size}x${size}`,
    type: 'image/png',
  }))
  const colours = { background_color: '#f6f4ee', theme_color: '#0f5c4a' }
  return JSON.stringify({
    name,
    short_name: name,
    start_url: '/',
    display: 'browser',
    icons,
    ...colours,
  })
}
