// Usage as tables: by time and model, with the numbers of the chart, and by model alone.
import { useTranslation } from 'react-i18next'
import type { ModelUsage, Usage } from '../../../src/cabinet/contract/usage.ts'
import { usePhrases } from '../../format/phrases.ts'
import { useFormat } from '../../format/use-format.ts'
import { Credits } from '../../ui/amounts.tsx'
import { Panel } from '../../ui/parts.tsx'
import { type Column, Table } from '../../ui/Table.tsx'
import { countIn, creditsIn, requestsIn, useBucketLabel } from './buckets.ts'

type Line = ModelUsage & { readonly at: string; readonly when: string }

export function TimeTable({ usage }: { readonly usage: Usage }) {
  const { t } = useTranslation()
  const bucketLabel = useBucketLabel()
  const columns = useColumns()
  const lines = [...usage.buckets]
    .reverse()
    .flatMap(({ models, ...bucket }) =>
      models.map((use) => ({ ...use, at: bucket.at, when: bucketLabel(bucket, true) })),
    )
  return (
    <div className="grid gap-3">
      <p className="text-sm text-soft">{t('usage.table.skipped')}</p>
      <Table<Line>
        caption={t('usage.table.title')}
        columns={[
          {
            id: 'when',
            label: t(usage.step === 'day' ? 'usage.chart.dayHead' : 'usage.chart.hourHead'),
            isTitle: true,
            cell: (line) => <span className="figures">{line.when}</span>,
          },
          ...columns,
        ]}
        rows={lines}
        rowId={({ at, model }) => `${at} ${model}`}
      />
    </div>
  )
}

export function Totals({ totals }: { readonly totals: readonly ModelUsage[] }) {
  const { t } = useTranslation()
  const phrases = usePhrases()
  const [model, ...others] = useColumns()
  const summary = t('usage.totals.summary', {
    credits: phrases.credits(creditsIn(totals)),
    requests: phrases.requests(requestsIn(totals)),
  })
  return (
    <Panel title={t('usage.totals.title')} hint={t('usage.totals.hint')}>
      <Table
        caption={t('usage.totals.title')}
        columns={model === undefined ? others : [{ ...model, isTitle: true }, ...others]}
        rows={totals}
        rowId={(use) => use.model}
      />
      <p className="figures mt-4 font-medium">{summary}</p>
    </Panel>
  )
}

function useColumns(): readonly Column<ModelUsage>[] {
  const { t } = useTranslation()
  const format = useFormat()
  const counted = (id: 'input' | 'output' | 'cacheRead' | 'cacheWrite'): Column<ModelUsage> => ({
    id,
    label: t(`usage.table.${id}`),
    isNumber: true,
    cell: (use) => format.whole(countIn([use], id)),
  })
  return [
    {
      id: 'model',
      label: t('usage.table.model'),
      cell: ({ model }) => <span className="break-all">{model}</span>,
    },
    {
      id: 'requests',
      label: t('usage.table.requests'),
      isNumber: true,
      cell: ({ requests, free }) => (
        <>
          {format.whole(requests)}
          {free !== '0' && (
            <span className="block text-sm text-soft">
              {t('usage.table.free', { shown: format.whole(free) })}
            </span>
          )}
        </>
      ),
    },
    counted('input'),
    counted('output'),
    counted('cacheRead'),
    counted('cacheWrite'),
    {
      id: 'credits',
      label: t('usage.table.credits'),
      isNumber: true,
      cell: ({ credits }) => <Credits value={credits} />,
    },
  ]
}
