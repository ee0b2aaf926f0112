// The name of a code that the server sends, in the reader's language; the code itself if a newer
// server sends one that this page does not know.
import { useTranslation } from 'react-i18next'

type Group =
  | 'alarm'
  | 'month.kind'
  | 'month.section'
  | 'month.figure'
  | 'month.reason'
  | 'month.contra'
  | 'ending'
  | 'entry'
  | 'modelState'
  | 'orderState'
  | 'refundState'
  | 'tokens'
  | 'upstreamState'

/** `const name = useName('orderState'); name('credited')` */
export function useName(group: Group): (code: string) => string {
  const { t, i18n } = useTranslation()
  return (code) => {
    const key = `console.${group}.${code}`
    // Safe: the key was found; TypeScript cannot know which one it is.
    return i18n.exists(key) ? t(key as 'console.entry.charge') : code
  }
}
