// Stacked bars over time, drawn without a library. Pointing at a bar, touching it or reaching it
// with the arrow keys shows its exact figures above the chart and in the legend; a click or Enter
// goes down to its hours or requests. TimeTable has the same numbers.
import { useId, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Usage } from '../../../../src/cabinet/contract/usage.ts'
import { usePhrases } from '../../../format/phrases.ts'
import { useWidth } from '../../../ui/width.ts'
import { Bars, isCrowded } from './Bars.tsx'
import { Legend } from './Legend.tsx'
import { useBucketLabel } from './labels.ts'
import type { Measure } from './metrics.ts'
import type { Plot } from './plot.ts'
import { SeriesPatterns } from './Swatch.tsx'

export function Chart(props: {
  readonly usage: Usage
  readonly measure: Measure
  readonly plot: Plot
  /** Goes down into a bucket. */
  readonly onOpen: (index: number) => void
  readonly onToggle: (id: string) => void
}) {
  const { usage, measure, plot, onOpen, onToggle } = props
  const { t } = useTranslation()
  const phrases = usePhrases()
  const bucketLabel = useBucketLabel(usage)
  const box = useRef<HTMLDivElement>(null)
  const width = useWidth(box)
  const patternsId = useId()
  const { buckets } = usage
  const [pointed, setPointed] = useState<string>()
  const found = buckets.findIndex(({ at }) => at === pointed)
  const index = found === -1 ? undefined : found
  const labelOf = (at: number) => {
    const when = bucketLabel(at)
    const requests = buckets[at]?.whole.requests ?? '0'
    if (requests === '0') return `${when}: ${t('usage.chart.none')}`
    const total = t('usage.chart.bar', {
      ...{ when, amount: measure.text(plot.totalOf(at)), requests: phrases.requests(requests) },
    })
    const parts = plot.series.flatMap(({ name, isHidden }, line) => {
      const units = plot.unitsOf(line, at)
      if (isHidden || units === 0n) return []
      return t('usage.chart.part', { name, amount: measure.text(units) })
    })
    return `${total} ${parts.join('; ')}`
  }
  const before = plot.previousOf(index)
  return (
    <figure className="grid min-w-0 gap-4">
      <figcaption className="text-sm text-soft">{t(`usage.chart.keys.${usage.step}`)}</figcaption>
      <p aria-hidden className="flex flex-wrap items-baseline gap-x-3">
        <span className="text-soft">
          {index === undefined ? t('usage.chart.whole') : bucketLabel(index)}
        </span>
        <span className="figures font-medium">{measure.text(plot.totalOf(index))}</span>
        <span className="figures text-sm text-soft">
          {phrases.requests((index === undefined ? usage : buckets[index])?.whole.requests ?? '0')}
        </span>
        {before !== undefined && (
          <span className="figures text-sm text-soft">
            {t('usage.explorer.before', { amount: measure.text(before) })}
          </span>
        )}
      </p>
      <div ref={box} className="min-w-0">
        {width > 0 && (
          <Bars
            {...{ buckets, plot, width, patternsId, pointed, labelOf, onOpen }}
            tick={(amount) => measure.tick(amount / measure.unit)}
            onPoint={setPointed}
          />
        )}
      </div>
      <Legend
        {...{ measure, plot, index, patternsId, onToggle }}
        isPlain={isCrowded(width, buckets.length)}
      />
      <svg aria-hidden="true" className="absolute size-0">
        <SeriesPatterns id={patternsId} slots={plot.series.map(({ slot }) => slot)} />
      </svg>
    </figure>
  )
}
