// Translations of the generated pages of the documentation: docs/ru/texts/*.json has the Russian
// for each English text. A text that changes has no translation any more, which a test reports.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const folder = join(import.meta.dirname, '../docs/ru/texts')

export function translator(
  page: 'api' | 'settings',
  language: 'en' | 'ru',
): (text: string) => string {
  if (language === 'en') return (text) => text
  const known = readTranslations(page)
  return (text) => {
    const found = known.get(text)
    if (found === undefined) throw new Error(`docs/ru/texts/${page}.json has no text for: ${text}`)
    return found
  }
}

export function readTranslations(page: 'api' | 'settings'): ReadonlyMap<string, string> {
  const text = readFileSync(join(folder, `${page}.json`), 'utf8')
  return new Map(Object.entries(JSON.parse(text) as Record<string, string>))
}
