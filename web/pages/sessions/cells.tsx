// Cells that the list of sessions and the page of one session share.
import { useTranslation } from 'react-i18next'
import type { Credits, IntegerText } from '../../../src/cabinet/contract/contract.ts'
import { millionthsOf } from '../../format/decimal.ts'
import { usePhrases } from '../../format/phrases.ts'
import { kopecksFor } from '../../format/roubles.ts'
import { useFormat } from '../../format/use-format.ts'
import { usePackRate } from '../../format/use-rubles.ts'
import { cachePercent } from './figures.ts'

/** A label that a person chose is shown whole up to here. */
const WHOLE_ID = 16

/** The ends of a long id: random ones differ at their start, numbered ones at their end. */
export function shortId(id: string): string {
  return id.length > WHOLE_ID ? `${id.slice(0, 8)}…${id.slice(-4)}` : id
}

/** How many requests failed; nothing when none did. */
export function Errors({ errors }: { readonly errors: IntegerText }) {
  const { t } = useTranslation()
  const format = useFormat()
  const phrases = usePhrases()
  if (errors === '0') return null
  const count = phrases.form(BigInt(errors))
  return (
    <span className="block text-sm whitespace-nowrap text-soft">
      {t('sessions.errors', { count, shown: format.whole(errors) })}
    </span>
  )
}

export function CacheShare(props: { readonly figures: Parameters<typeof cachePercent>[0] }) {
  const { t, i18n } = useTranslation()
  const percent = cachePercent(props.figures)
  const shown = new Intl.NumberFormat(i18n.language, { style: 'percent' })
  return (
    <span className="figures whitespace-nowrap" title={t('sessions.cacheShareHint')}>
      {percent === null ? '—' : shown.format(percent / 100)}
    </span>
  )
}

/** What these credits cost at the price of the last pack, below them; nothing before a purchase. */
export function RublesOf({ credits }: { readonly credits: Credits }) {
  const rate = usePackRate()
  if (rate === undefined) return null
  return <Rubles kopecks={BigInt(kopecksFor(millionthsOf(credits.exact), rate))} />
}

/** Nothing for what was free. */
export function Rubles({ kopecks }: { readonly kopecks: bigint }) {
  const { t } = useTranslation()
  const format = useFormat()
  if (kopecks === 0n) return null
  return (
    <span className="block text-sm whitespace-nowrap text-soft">
      {t('sessions.rubles', { rubles: format.rubles(String(kopecks)) })}
    </span>
  )
}
