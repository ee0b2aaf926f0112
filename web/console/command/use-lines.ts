// What commands said, in the language of the page.
import { useTranslation } from 'react-i18next'
import { shownLine } from './lines.ts'

/** Shows a text of a command, which may have several lines. */
export function useLines(): (text: string) => string {
  const { i18n } = useTranslation()
  const isRussian = i18n.language === 'ru'
  return (text) => unbroken(isRussian ? text.split('\n').map(shownLine).join('\n') : text)
}

/** No line ends within a number. */
function unbroken(text: string): string {
  return text.replace(/(?<=\d) (?=\d{3}(?!\d))/g, '\u00a0')
}
