// The language of a page that the server renders: the one that the address names, else the one
// chosen in this browser, else the browser's own, else Russian.
import type { Language } from '../contract/contract.ts'

/** Browsers keep no cookie for longer. */
const COOKIE_SECONDS = 400 * 86_400
/** Browsers send a dozen languages at most; reading 16 KiB takes longer than answering. */
const HEADER_LENGTH_MAX = 512

/** Reads a language as it stands, or from a Cookie header. */
export function languageIn(
  text: string | null | undefined,
  where: 'plain' | 'cookie' = 'plain',
): Language | undefined {
  const pattern = where === 'plain' ? /^(ru|en)$/ : /(?:^|;\s*)language=(ru|en)(?:;|$)/
  return pattern.exec(text ?? '')?.[1] as Language | undefined
}

/** The language that an Accept-Language header prefers: `en-GB,en;q=0.9,ru;q=0.8` is English. */
export function acceptedLanguage(header: string | undefined): Language {
  const wanted = (header ?? '')
    .slice(0, HEADER_LENGTH_MAX)
    .split(',')
    .map((part) => {
      const [tag = '', ...parameters] = part.split(';').map((one) => one.trim().toLowerCase())
      const quality = parameters.find((one) => one.startsWith('q='))?.slice(2)
      return { language: languageIn(tag.slice(0, 2)), quality: Number(quality ?? 1) }
    })
    .filter(({ language, quality }) => language !== undefined && quality > 0)
    // The sort is stable: the first of equals wins.
    .sort((a, b) => b.quality - a.quality)
  return wanted[0]?.language ?? 'ru'
}

/** The same cookie as runtime/language.ts writes: the next page is in the same language. */
export function cookieFor(language: Language): string {
  return `language=${language}; Path=/; Max-Age=${COOKIE_SECONDS}; SameSite=Lax`
}
