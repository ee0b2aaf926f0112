// A no in the reader's language. Every code of the contract has its sentence; a fault carries the
// number under which it stands in our log, for a letter to support.
import type { TFunction } from 'i18next'
import { useTranslation } from 'react-i18next'
import { isNo } from './api.ts'

/** The owner changed their mind in a dialog: nothing to tell. */
export class Cancelled extends Error {}

export function useErrorText(): (error: unknown) => string {
  const { t, i18n } = useTranslation()
  return (error) => {
    if (error instanceof Cancelled) return ''
    if (!isNo(error)) return t('errors.fault')
    // A server newer than this page may have codes that it does not know.
    const isKnown: boolean = i18n.exists(`errors.${error.code}`)
    const sentence = t(isKnown ? `errors.${error.code}` : 'errors.fault')
    const seconds = error.retryAfterSeconds
    const wait = seconds === undefined ? [] : [waitText(t, seconds)]
    const isOurs = error.status >= 500 && error.requestId !== undefined
    const number = isOurs ? [t('errors.number', { id: error.requestId })] : []
    return [sentence, ...wait, ...number].join(' ')
  }
}

function waitText(t: TFunction, seconds: number): string {
  if (seconds < 60) return t('errors.waitSeconds', { count: seconds })
  return t('errors.waitMinutes', { count: Math.ceil(seconds / 60) })
}
