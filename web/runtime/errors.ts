// Error messages in the reader's language. Every refusal code of the contract has a sentence; a
// fault adds the request id under which our log has it, for an e-mail to support.
import type { TFunction } from 'i18next'
import { useTranslation } from 'react-i18next'
import { isApiRefusal } from './api.ts'

/** The owner closed a dialog; no message is shown. */
export class Cancelled extends Error {}

export function useErrorText(): (error: unknown) => string {
  const { t, i18n } = useTranslation()
  return (error) => {
    if (error instanceof Cancelled) return ''
    if (!isApiRefusal(error)) return t('errors.fault')
    // A server newer than this page may send codes that the page does not know.
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
