// Loads the words of one language, and tells i18next their type: a key that is not in them does not
// compile.
import type { Language } from '../../runtime/preferences.ts'
import type { ru } from './ru.ts'

declare module 'i18next' {
  interface CustomTypeOptions {
    defaultNS: 'words'
    resources: { words: typeof ru }
  }
}

export async function loadWords(language: Language): Promise<object> {
  if (language === 'en') return (await import('./en.ts')).en
  return (await import('./ru.ts')).ru
}
