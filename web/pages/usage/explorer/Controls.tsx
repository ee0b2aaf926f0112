// The options of the explorer: what is measured, how it is split and grouped, the previous period,
// and whether it is a chart or a table.
import { useTranslation } from 'react-i18next'
import type { UsageStep } from '../../../../src/cabinet/contract/usage.ts'
import { Choice } from '../../../ui/form/Choice.tsx'
import { CheckField, SelectField } from '../../../ui/form/Field.tsx'
import {
  type Metric,
  metrics,
  type Span,
  splits,
  stepsFor,
  type UsageSearch,
  usageSearchOf,
  without,
} from '../period.ts'

export function Controls(props: {
  readonly search: UsageSearch
  readonly span: Span
  /** What is shown: credits instead of roubles before the first purchase. */
  readonly metric: Metric
  readonly onChange: (search: UsageSearch) => void
}) {
  const { search, span, metric, onChange } = props
  const { t } = useTranslation()
  const { split = 'model' } = search
  const steps = stepsFor(span)
  return (
    <div className="flex flex-wrap items-end gap-x-4 gap-y-3">
      <div className="grid grow grid-cols-2 gap-3 sm:max-w-xl">
        <SelectField
          label={t('usage.explorer.metricLabel')}
          value={metric}
          options={metrics.map((value) => ({ value, label: t(`usage.explorer.metric.${value}`) }))}
          onChange={(value) => onChange(changed(search, 'metric', value, 'credits'))}
        />
        <SelectField
          label={t('usage.explorer.splitLabel')}
          value={split}
          options={splits.map((value) => ({ value, label: t(`usage.explorer.split.${value}`) }))}
          onChange={(value) => onChange(changed(search, 'split', value, 'model'))}
        />
      </div>
      <div className="min-h-9">
        <CheckField
          isChecked={search.compare === true}
          onChange={(isChecked) => {
            const rest = without(search, 'compare')
            onChange(isChecked ? { ...rest, compare: true } : rest)
          }}
        >
          {t('usage.explorer.compare')}
        </CheckField>
      </div>
      <div className="flex flex-wrap gap-x-4 gap-y-2 lg:ms-auto">
        {steps.length > 1 && (
          <Choice<UsageStep>
            isSmall
            label={t('usage.chart.step')}
            value={span.step}
            options={steps.map((value) => ({ value, label: t(`usage.chart.${value}`) }))}
            onChange={(step) => onChange({ ...without(search, 'hour'), step })}
          />
        )}
        <Choice
          isSmall
          label={t('usage.chart.as')}
          value={search.as ?? 'bars'}
          options={[
            { value: 'bars', label: t('usage.chart.asBars') },
            { value: 'table', label: t('usage.chart.asTable') },
          ]}
          onChange={(as) => {
            const rest = without(search, 'as')
            onChange(as === 'table' ? { ...rest, as } : rest)
          }}
        />
      </div>
    </div>
  )
}

/** Series of another metric or split are not hidden; a default value is not in the address. */
function changed(
  search: UsageSearch,
  name: 'metric' | 'split',
  value: string,
  usual: string,
): UsageSearch {
  const rest = without(search, name, 'hidden')
  return value === usual ? rest : usageSearchOf({ ...rest, [name]: value })
}
