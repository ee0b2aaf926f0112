// Stacked bars over time, drawn by hand: each bar can be pointed at, touched, or reached with the
// arrow keys, and tells its exact figures above and in the legend. UsageTable has the same numbers.
import { useId, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Usage, UsageBucket } from '../../../src/cabinet/contract/usage.ts'
import { creditsOf } from '../../format/decimal.ts'
import { useFormat } from '../../format/format.ts'
import { usePhrases } from '../../format/phrases.ts'
import { useWidth } from '../../ui/width.ts'
import { Bars, isCrowded } from './Bars.tsx'
import { amountsOf, type Series, scaleOf, seriesOf, sumOf } from './chart.ts'
import { Looks, Swatch } from './Swatch.tsx'
import { requestsIn, useWhen } from './use.ts'

export function Chart({ usage }: { readonly usage: Usage }) {
  const { t } = useTranslation()
  const phrases = usePhrases()
  const when = useWhen()
  const box = useRef<HTMLDivElement>(null)
  const width = useWidth(box)
  const looks = useId()
  const { buckets, totals } = usage
  const [pointed, setPointed] = useState<string>()
  const series = seriesOf(totals)
  const amounts = buckets.map((bucket) => amountsOf(bucket, series))
  const largest = amounts.map(sumOf).reduce((most, one) => (one > most ? one : most), 0n)
  const told = buckets.findIndex(({ at }) => at === pointed)
  const shown = amounts[told] ?? series.map((_, line) => sumOf(amounts.map((a) => a[line] ?? 0n)))
  const bucket = buckets[told]
  const sayOf = (one: UsageBucket, at: number) => {
    const spent = amounts[at] ?? []
    if (one.models.length === 0) return `${when(one, true)}: ${t('usage.chart.none')}`
    const said = t('usage.chart.bar', {
      when: when(one, true),
      credits: phrases.credits(creditsOf(sumOf(spent))),
      requests: phrases.requests(requestsIn(one.models)),
    })
    const parts = series.flatMap(({ model }, line) =>
      (spent[line] ?? 0n) === 0n
        ? []
        : t('usage.chart.part', {
            model: model ?? t('usage.chart.rest'),
            credits: phrases.credits(creditsOf(spent[line] ?? 0n)),
          }),
    )
    return `${said} ${parts.join('; ')}`
  }
  return (
    <figure className="grid min-w-0 gap-4">
      <figcaption className="sr-only">{t('usage.chart.keys')}</figcaption>
      <p aria-hidden className="flex flex-wrap items-baseline gap-x-3">
        <span className="text-soft">
          {bucket === undefined ? t('usage.chart.whole') : when(bucket, true)}
        </span>
        <span className="figures font-medium">{phrases.credits(creditsOf(sumOf(shown)))}</span>
        <span className="figures text-sm text-soft">
          {phrases.requests(requestsIn(bucket?.models ?? totals))}
        </span>
      </p>
      <div ref={box} className="min-w-0">
        {width > 0 && (
          <Bars
            {...{ buckets, amounts, width, looks, pointed, sayOf }}
            scale={scaleOf(largest)}
            onPoint={setPointed}
          />
        )}
      </div>
      <Legend {...{ series, shown, looks }} isPlain={isCrowded(width, buckets.length)} />
      <svg aria-hidden="true" className="absolute size-0">
        <Looks id={looks} />
      </svg>
    </figure>
  )
}

function Legend(props: {
  readonly series: readonly Series[]
  readonly shown: readonly bigint[]
  readonly looks: string
  readonly isPlain: boolean
}) {
  const { t } = useTranslation()
  const format = useFormat()
  return (
    <ul aria-hidden className="grid gap-x-6 gap-y-1.5 sm:grid-cols-2 lg:grid-cols-3">
      {props.series.map(({ model }, look) => (
        <li key={model ?? ''} className="flex min-w-0 flex-wrap items-center gap-2 text-sm">
          <Swatch id={props.looks} look={look} isPlain={props.isPlain} />
          <span className="min-w-0 wrap-anywhere">{model ?? t('usage.chart.rest')}</span>
          <span className="leader" />
          <span className="figures">{format.credits(creditsOf(props.shown[look] ?? 0n))}</span>
        </li>
      ))}
    </ul>
  )
}
