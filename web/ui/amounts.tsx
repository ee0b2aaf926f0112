// Amounts and moments on the page, in figures of equal width; the tooltip has the exact value.
import { useTranslation } from 'react-i18next'
import type { Credits as CreditsValue, Kopecks, Time } from '../../src/cabinet/contract/contract.ts'
import { useFormat } from '../format/use-format.ts'

/** 35 000 000, or 35 млн when `isShort`; the tooltip has the exact amount. */
export function Credits(props: { readonly value: CreditsValue; readonly isShort?: boolean }) {
  const { value, isShort = false } = props
  const { t } = useTranslation()
  const format = useFormat()
  const full = format.credits(value)
  return (
    <span className="figures whitespace-nowrap" title={t('credits.exact', { exact: value.exact })}>
      {isShort ? format.creditsShort(value) : full}
    </span>
  )
}

/** 1 300,00 ₽ */
export function Rubles({ kopecks }: { readonly kopecks: Kopecks }) {
  return <span className="figures whitespace-nowrap">{useFormat().rubles(kopecks)}</span>
}

/** 1 300 ₽, for the price of a pack. */
export function Price({ kopecks }: { readonly kopecks: Kopecks }) {
  return <span className="figures whitespace-nowrap">{useFormat().price(kopecks)}</span>
}

/**
 * A moment in the reader's time zone, or in `zone`; `isAgo` shows how long ago it was, within a
 * day.
 */
export function Moment(props: {
  readonly at: Time
  readonly isAgo?: boolean
  readonly zone?: string
}) {
  const { at, isAgo = false, zone } = props
  const format = useFormat(zone)
  return (
    <time dateTime={at} title={format.moment(at)} className="figures">
      {isAgo ? format.ago(at) : format.moment(at)}
    </time>
  )
}
