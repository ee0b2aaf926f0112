// The same numbers as the chart's, as a table: a row for each step, a column for each series. The
// name of a step goes down to its hours or requests, as its bar does.
import { useTranslation } from 'react-i18next'
import type { Usage } from '../../../../src/cabinet/contract/usage.ts'
import { Button } from '../../../ui/Button.tsx'
import { type Column, Table } from '../../../ui/Table.tsx'
import { useBucketLabel } from './labels.ts'
import type { Measure } from './metrics.ts'
import type { Plot } from './plot.ts'

/** Undefined is the row of the whole period. */
type Row = { readonly index: number | undefined }

export function TimeTable(props: {
  readonly usage: Usage
  readonly measure: Measure
  readonly plot: Plot
  readonly onOpen: (index: number) => void
}) {
  const { usage, measure, plot, onOpen } = props
  const { t } = useTranslation()
  const bucketLabel = useBucketLabel(usage)
  const used = usage.buckets.flatMap(({ whole }, index) => (whole.requests === '0' ? [] : [index]))
  const rows: Row[] = [{ index: undefined }, ...used.toReversed().map((index) => ({ index }))]
  const number = (id: string, label: string, units: (row: Row) => bigint): Column<Row> => ({
    ...{ id, label, isNumber: true },
    cell: (row) => measure.short(units(row)),
  })
  const visible = plot.series.flatMap(({ id, name, isHidden }, line) =>
    isHidden ? [] : [{ id, name, line }],
  )
  const columns: Column<Row>[] = [
    {
      id: 'when',
      label: t(`usage.table.${usage.step}`),
      isTitle: true,
      cell: ({ index }) =>
        index === undefined ? (
          <span className="font-medium">{t('usage.chart.whole')}</span>
        ) : (
          <Button tone="quiet" isSmall className="figures -ms-3" onClick={() => onOpen(index)}>
            {bucketLabel(index)}
          </Button>
        ),
    },
    ...visible.map(({ id, name, line }) =>
      number(`series ${id}`, name, ({ index }) => plot.unitsOf(line, index)),
    ),
    // The median is a series of its own already.
    ...(measure.kind === 'sum' && visible.length > 1
      ? [number('all', t('usage.table.all'), ({ index }) => plot.totalOf(index))]
      : []),
    ...(plot.previous === undefined
      ? []
      : [
          number(
            'before',
            t('usage.explorer.previous'),
            ({ index }) => plot.previousOf(index) ?? 0n,
          ),
        ]),
  ]
  return (
    <div className="grid gap-3">
      <p className="text-sm text-soft">{t('usage.table.skipped')}</p>
      <Table
        caption={t('usage.table.title')}
        columns={columns}
        rows={rows}
        rowId={({ index }) => String(index)}
        isWide
      />
    </div>
  )
}
