// The chart with its options: by hour or by day, as bars or as a table.
import { ChartColumn } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import type { Usage } from '../../../src/cabinet/contract/usage.ts'
import { Button } from '../../ui/Button.tsx'
import { Choice } from '../../ui/form/Choice.tsx'
import { Empty, Panel } from '../../ui/parts.tsx'
import { Chart } from './Chart.tsx'
import { daysIn, HOURLY_DAYS_MAX, type Span, type UsageSearch, without } from './period.ts'
import { TimeTable } from './UsageTable.tsx'

export function ChartPanel(props: {
  readonly usage: Usage
  readonly span: Span
  readonly search: UsageSearch
  readonly isBusy: boolean
  readonly onChange: (search: UsageSearch) => void
}) {
  const { usage, span, search, isBusy, onChange } = props
  const { t } = useTranslation()
  const isTable = search.as === 'table'
  if (usage.totals.length === 0) {
    return (
      <Panel>
        <Empty
          icon={ChartColumn}
          title={t('usage.noneHere')}
          text={t('usage.noneHereText')}
          action={
            <Button onClick={() => onChange({ ...without(search, 'from', 'to'), period: 'year' })}>
              {t('usage.showYear')}
            </Button>
          }
        />
      </Panel>
    )
  }
  return (
    <Panel
      title={t('usage.chart.title')}
      actions={
        <>
          {daysIn(span) <= HOURLY_DAYS_MAX && (
            <Choice
              isSmall
              label={t('usage.chart.step')}
              value={span.step}
              options={(['hour', 'day'] as const).map((value) => ({
                value,
                label: t(`usage.chart.${value}`),
              }))}
              onChange={(step) => onChange({ ...search, step })}
            />
          )}
          <Choice
            isSmall
            label={t('usage.chart.as')}
            value={isTable ? 'table' : 'bars'}
            options={[
              { value: 'bars', label: t('usage.chart.asBars') },
              { value: 'table', label: t('usage.chart.asTable') },
            ]}
            onChange={(as) => {
              const rest = without(search, 'as')
              onChange(as === 'table' ? { ...rest, as } : rest)
            }}
          />
        </>
      }
    >
      <div aria-busy={isBusy} className="min-w-0 aria-busy:opacity-60">
        {isTable ? <TimeTable usage={usage} /> : <Chart usage={usage} />}
      </div>
    </Panel>
  )
}
