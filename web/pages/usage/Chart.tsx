// Stacked bars over time, drawn without a library. Pointing at a bar, touching it or reaching it
// with the arrow keys shows its exact figures above the chart and in the legend. UsageTable has the
// same numbers.
import { useId, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Usage, UsageBucket } from '../../../src/cabinet/contract/usage.ts'
import { creditsOf } from '../../format/decimal.ts'
import { usePhrases } from '../../format/phrases.ts'
import { useFormat } from '../../format/use-format.ts'
import { useWidth } from '../../ui/width.ts'
import { Bars, isCrowded } from './Bars.tsx'
import { requestsIn, useBucketLabel } from './buckets.ts'
import { amountsOf, type Series, scaleOf, seriesOf, sumOf } from './chart.ts'
import { SeriesPatterns, Swatch } from './Swatch.tsx'

export function Chart({ usage }: { readonly usage: Usage }) {
  const { t } = useTranslation()
  const phrases = usePhrases()
  const bucketLabel = useBucketLabel()
  const box = useRef<HTMLDivElement>(null)
  const width = useWidth(box)
  const patternsId = useId()
  const { buckets, totals } = usage
  const [pointed, setPointed] = useState<string>()
  const series = seriesOf(totals)
  const amounts = buckets.map((bucket) => amountsOf(bucket, series))
  const largest = amounts.map(sumOf).reduce((most, one) => (one > most ? one : most), 0n)
  const pointedIndex = buckets.findIndex(({ at }) => at === pointed)
  const shown =
    amounts[pointedIndex] ?? series.map((_, line) => sumOf(amounts.map((a) => a[line] ?? 0n)))
  const bucket = buckets[pointedIndex]
  const labelOf = (one: UsageBucket, at: number) => {
    const spent = amounts[at] ?? []
    if (one.models.length === 0) return `${bucketLabel(one, true)}: ${t('usage.chart.none')}`
    const total = t('usage.chart.bar', {
      when: bucketLabel(one, true),
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
    return `${total} ${parts.join('; ')}`
  }
  return (
    <figure className="grid min-w-0 gap-4">
      <figcaption className="sr-only">{t('usage.chart.keys')}</figcaption>
      <p aria-hidden className="flex flex-wrap items-baseline gap-x-3">
        <span className="text-soft">
          {bucket === undefined ? t('usage.chart.whole') : bucketLabel(bucket, true)}
        </span>
        <span className="figures font-medium">{phrases.credits(creditsOf(sumOf(shown)))}</span>
        <span className="figures text-sm text-soft">
          {phrases.requests(requestsIn(bucket?.models ?? totals))}
        </span>
      </p>
      <div ref={box} className="min-w-0">
        {width > 0 && (
          <Bars
            {...{ buckets, amounts, width, patternsId, pointed, labelOf }}
            scale={scaleOf(largest)}
            onPoint={setPointed}
          />
        )}
      </div>
      <Legend {...{ series, shown, patternsId }} isPlain={isCrowded(width, buckets.length)} />
      <svg aria-hidden="true" className="absolute size-0">
        <SeriesPatterns id={patternsId} />
      </svg>
    </figure>
  )
}

function Legend(props: {
  readonly series: readonly Series[]
  readonly shown: readonly bigint[]
  readonly patternsId: string
  readonly isPlain: boolean
}) {
  const { t } = useTranslation()
  const format = useFormat()
  return (
    <ul aria-hidden className="grid gap-x-6 gap-y-1.5 sm:grid-cols-2 lg:grid-cols-3">
      {props.series.map(({ model }, series) => (
        <li key={model ?? ''} className="flex min-w-0 flex-wrap items-center gap-2 text-sm">
          <Swatch id={props.patternsId} series={series} isPlain={props.isPlain} />
          <span className="min-w-0 wrap-anywhere">{model ?? t('usage.chart.rest')}</span>
          <span className="leader" />
          <span className="figures">{format.credits(creditsOf(props.shown[series] ?? 0n))}</span>
        </li>
      ))}
    </ul>
  )
}
