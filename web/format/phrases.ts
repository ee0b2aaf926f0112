// Amounts as words: a figure with its noun in the right form, for sentences and labels.
import { useTranslation } from 'react-i18next'
import type { Credits, Whole } from '../../src/cabinet/contract/contract.ts'
import { useFormat } from './format.ts'

/** Below it the whole figure is as easy to read: 3 219 rather than 3.21 thousand. */
const SHORTENED_FROM = 100_000n
/** Forms of nouns repeat with every hundred; a thousand of anything has the form of many. */
const MANY = 1_000n

export function usePhrases() {
  const { t } = useTranslation()
  const format = useFormat()
  return {
    /** 35 000 001 кредит */
    credits: (value: Credits) =>
      t('credits.unit', { count: formOf(value.whole), shown: format.credits(value) }),
    /** 4 500,5 кредита: to the last digit. */
    creditsExact: (value: Credits) =>
      t('credits.unit', {
        // A fraction has a form of its own.
        count: value.exact.includes('.') ? 1.5 : formOf(value.whole),
        shown: format.decimal(value.exact),
      }),
    /** What chooses the form of a noun beside a number. */
    form: (value: bigint) => formOf(String(value)),
    /** 35 млн кредитов */
    creditsShort: (value: Credits) => {
      const isShortened = BigInt(value.whole) >= SHORTENED_FROM
      return t('credits.unit', {
        count: isShortened ? Number(MANY) : formOf(value.whole),
        shown: isShortened ? format.creditsShort(value) : format.credits(value),
      })
    },
    /** 3 запроса */
    requests: (value: Whole) =>
      t('home.requests', { count: formOf(value), shown: format.whole(value) }),
  }
}

/** A number of the same plural form: forms depend on the last two digits, and on being one. */
function formOf(whole: Whole): number {
  const value = BigInt(whole)
  return Number(value < MANY ? value : MANY + (value % 100n))
}
