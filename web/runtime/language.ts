// The language of the pages: the one in the profile, else the one chosen in this browser, else the
// browser's own, else Russian. A page that the server rendered keeps the language of its text. Only
// the words of that language are loaded.
import i18next, { type Resource } from 'i18next'
import { initReactI18next } from 'react-i18next'
import { type Language, preferredLanguage } from './preferences.ts'

type LoadWords = (language: Language) => Promise<object>

/** Set once, at the start: cabinet and console have words of their own. */
const words: { load: LoadWords } = { load: async () => ({}) }

const COOKIE_SECONDS = 400 * 86_400

export async function startLanguage(load: LoadWords): Promise<void> {
  words.load = load
  const language = preferredLanguage()
  await startWords(language, {})
  await showLanguage(language)
}

/** Starts i18next, in the browser and on the server. */
export async function startWords(language: Language, resources: Resource): Promise<void> {
  await i18next.use(initReactI18next).init({
    lng: language,
    defaultNS: 'words',
    ns: ['words'],
    resources,
    // React escapes the text that it renders.
    interpolation: { escapeValue: false },
    // The tests find missing words; a fallback language would hide them.
    fallbackLng: false,
    react: { useSuspense: false },
  })
}

/** Loads the words of a language and shows them. */
async function showLanguage(language: Language): Promise<void> {
  if (!i18next.hasResourceBundle(language, 'words')) {
    i18next.addResourceBundle(language, 'words', await words.load(language))
  }
  await i18next.changeLanguage(language)
  document.documentElement.lang = language
}

/** Shows the language and remembers it in a cookie, also for visits without a session. */
export async function chooseLanguage(language: Language): Promise<void> {
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store is not in every browser yet.
  document.cookie = `language=${language}; path=/; max-age=${COOKIE_SECONDS}; samesite=lax`
  await showLanguage(language)
}

export function currentLanguage(): Language {
  return i18next.language === 'en' ? 'en' : 'ru'
}
