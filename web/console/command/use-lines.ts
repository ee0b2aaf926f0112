// What commands said, in the language of the page.
import { useTranslation } from 'react-i18next'
import { shownLine } from './lines.ts'

/** Shows a text of a command, which may have several lines. */
export function useLines(): (text: string) => string {
  const { i18n } = useTranslation()
  if (i18n.language !== 'ru') return (text) => text
  return (text) => text.split('\n').map(shownLine).join('\n')
}
