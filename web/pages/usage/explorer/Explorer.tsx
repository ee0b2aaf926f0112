// The explorer: what was used, by time and by model, ending, session or label, as a chart or as a
// table. Its options are in the address; a bar leads to days, hours and requests.
import { ChartColumn, FileDown } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import type { Usage } from '../../../../src/cabinet/contract/usage.ts'
import { usePackRate } from '../../../format/use-rubles.ts'
import { addressOf } from '../../../runtime/api.ts'
import { Button, ButtonAnchor } from '../../../ui/Button.tsx'
import { Empty, Panel } from '../../../ui/parts.tsx'
import { endings, type Span, type UsageSearch, without } from '../period.ts'
import { Chart } from './Chart.tsx'
import { Controls } from './Controls.tsx'
import { lastDayOf, useKeyName } from './labels.ts'
import { useMeasure } from './metrics.ts'
import { plotOf } from './plot.ts'
import { TimeTable } from './TimeTable.tsx'

export function Explorer(props: {
  readonly usage: Usage
  /** The models of the catalogue, in its order, which decides their colours. */
  readonly catalogue: readonly string[]
  readonly span: Span
  readonly search: UsageSearch
  readonly isBusy: boolean
  readonly onChange: (search: UsageSearch) => void
  /** Moves to the log. */
  readonly onShowLog: (search: UsageSearch) => void
}) {
  const { usage, catalogue, span, search, isBusy, onChange, onShowLog } = props
  const { t } = useTranslation()
  const measure = useMeasure(search.metric ?? 'credits', usePackRate())
  const nameOf = useKeyName(usage.split)
  const hidden = search.hidden ?? []
  const plot = plotOf(usage, measure, {
    order: { model: catalogue, ending: endings, session: [], label: [] }[usage.split],
    ...{ hidden, nameOf, share: t('usage.explorer.metric.cacheShare') },
    times: [t('usage.explorer.median'), t('usage.explorer.slow')],
  })
  const open = (index: number) => {
    const down = downFrom(usage, search, index)
    if (usage.step === 'hour') onShowLog(down)
    else onChange(down)
  }
  const toggle = (id: string) => {
    const rest = without(search, 'hidden')
    const next = hidden.includes(id) ? hidden.filter((one) => one !== id) : [...hidden, id]
    onChange(next.length === 0 ? rest : { ...rest, hidden: next })
  }
  if (usage.totals.length === 0) return <NothingUsed {...{ search, onChange }} />
  return (
    <Panel title={t('usage.explorer.title')} actions={<Downloads usage={usage} />}>
      <div className="grid grid-cols-1 gap-5">
        <Controls {...{ search, span, onChange }} metric={measure.metric} />
        <div aria-busy={isBusy} className="min-w-0 aria-busy:opacity-60">
          {search.as === 'table' ? (
            <TimeTable {...{ usage, measure, plot }} onOpen={open} />
          ) : (
            <Chart {...{ usage, measure, plot }} onOpen={open} onToggle={toggle} />
          )}
        </div>
      </div>
    </Panel>
  )
}

/** One step down: the days of a week, the hours of a day, the requests of an hour. */
export function downFrom(usage: Usage, search: UsageSearch, index: number): UsageSearch {
  const bucket = usage.buckets[index]
  if (bucket === undefined) return search
  if (usage.step === 'hour') return { ...without(search, 'before', 'open'), hour: bucket.at }
  const rest = without(search, 'period', 'from', 'to', 'step', 'hour', 'before', 'open')
  const from = bucket.local.slice(0, 10)
  const to = usage.step === 'day' ? from : lastDayOf(usage, index)
  return {
    ...rest,
    period: 'own',
    from,
    to,
    ...(usage.step === 'week' && { step: 'day' as const }),
  }
}

/** The numbers of the chart as files. */
function Downloads({ usage }: { readonly usage: Usage }) {
  const { t } = useTranslation()
  const { from, to, zone, step, split } = usage
  return (['csv', 'json'] as const).map((format) => (
    <ButtonAnchor
      key={format}
      isSmall
      download
      icon={FileDown}
      href={addressOf('/api/usage/file', {}, { from, to, zone, step, split, format })}
    >
      {t(`usage.explorer.${format}`)}
    </ButtonAnchor>
  ))
}

function NothingUsed(props: {
  readonly search: UsageSearch
  readonly onChange: (search: UsageSearch) => void
}) {
  const { t } = useTranslation()
  const year: UsageSearch = {
    ...without(props.search, 'from', 'to', 'hour', 'step'),
    period: 'year',
  }
  return (
    <Panel>
      <Empty
        icon={ChartColumn}
        title={t('usage.noneHere')}
        text={t('usage.noneHereText')}
        action={<Button onClick={() => props.onChange(year)}>{t('usage.showYear')}</Button>}
      />
    </Panel>
  )
}
