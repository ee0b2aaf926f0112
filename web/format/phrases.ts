// Amounts with their noun in the right plural form, for sentences and labels.
import { useTranslation } from 'react-i18next'
import type { Credits, IntegerText } from '../../src/cabinet/contract/contract.ts'
import { useFormat } from './use-format.ts'

/** Smaller amounts are shown in full: 3 219 instead of 3.21 thousand. */
const SHORTENED_FROM = 100_000n
/** Plural forms repeat with every hundred; a thousand takes the form of many. */
const MANY = 1_000n

export function usePhrases() {
  const { t } = useTranslation()
  const format = useFormat()
  return {
    /** 35 000 001 кредит */
    credits: (value: Credits) =>
      t('credits.unit', { count: formOf(value.whole), shown: format.credits(value) }),
    /** 4 500,5 кредита, with every digit. */
    creditsExact: (value: Credits) =>
      t('credits.unit', {
        // Russian has a separate form for fractions.
        count: value.exact.includes('.') ? 1.5 : formOf(value.whole),
        shown: format.decimal(value.exact),
      }),
    /** The number that selects the plural form of a noun. */
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
    requests: (value: IntegerText) =>
      t('home.requests', { count: formOf(value), shown: format.whole(value) }),
  }
}

/** A small number with the same plural form: the form depends on the last two digits. */
function formOf(whole: IntegerText): number {
  const value = BigInt(whole)
  return Number(value < MANY ? value : MANY + (value % 100n))
}
