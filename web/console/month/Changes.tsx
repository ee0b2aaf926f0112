// What became known after a seal: corrections of earlier months, which this month reports, and what
// a new count of this sealed month finds, which a later month will report.
import { useTranslation } from 'react-i18next'
import type { Month, MonthChange } from '../../../src/operator/console/contract/month.ts'
import { Panel } from '../../ui/parts.tsx'
import { FigureTable } from './FigureTable.tsx'
import { useAmount, useLineName, useMonthName } from './names.ts'

export function Changes({ month }: { readonly month: Month }) {
  const { t } = useTranslation()
  const { corrections, differences } = month
  return (
    <>
      {corrections.length > 0 && (
        <Panel title={t('console.month.corrections')} hint={t('console.month.correctionsHint')}>
          <ChangeTable caption={t('console.month.corrections')} changes={corrections} />
        </Panel>
      )}
      {differences.length > 0 && (
        <Panel title={t('console.month.differences')} hint={t('console.month.differencesHint')}>
          <ChangeTable caption={t('console.month.differences')} changes={differences} />
        </Panel>
      )}
    </>
  )
}

function ChangeTable(props: {
  readonly caption: string
  readonly changes: readonly MonthChange[]
}) {
  const { t } = useTranslation()
  const lineName = useLineName()
  const monthName = useMonthName()
  const text = useAmount()
  return (
    <FigureTable
      caption={props.caption}
      columns={[
        {
          id: 'figure',
          label: t('console.month.figureLabel'),
          isTitle: true,
          cell: (one: MonthChange) => lineName(one),
        },
        { id: 'about', label: t('console.month.about'), cell: ({ about }) => monthName(about) },
        {
          id: 'before',
          label: t('console.month.before'),
          isNumber: true,
          cell: ({ before, unit }) => text(before, unit),
        },
        {
          id: 'now',
          label: t('console.month.now'),
          isNumber: true,
          cell: ({ now, unit }) => text(now, unit),
        },
        {
          id: 'change',
          label: t('console.month.change'),
          isNumber: true,
          cell: ({ before, now, unit }) => {
            const change = BigInt(now ?? 0) - BigInt(before ?? 0)
            return `${change > 0n ? '+' : ''}${text(change, unit)}`
          },
        },
      ]}
      rows={props.changes}
      rowId={({ about, section, item, figure, unit }) =>
        [about, section, item, figure, unit].join(' ')
      }
    />
  )
}
