// The accountant's months, newest first: which is not over, not sealed, sealed, and in which later
// month corrections of a sealed one were reported.
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { MonthInList } from '../../../src/operator/console/contract/month.ts'
import { Moment } from '../../ui/amounts.tsx'
import { Page } from '../../ui/Page.tsx'
import { Badge, Panel } from '../../ui/parts.tsx'
import { QueryView } from '../../ui/QueryView.tsx'
import { Table } from '../../ui/Table.tsx'
import { TextLink } from '../../ui/TextLink.tsx'
import { paths } from '../paths.ts'
import { monthsQuery } from '../queries.ts'
import { stateOf, stateTones, useMonthName } from './names.ts'

export function Months() {
  const { t } = useTranslation()
  return (
    <Page title={t('console.month.title')} lead={t('console.month.listLead')}>
      <QueryView query={useQuery(monthsQuery)} lines={6}>
        {({ months }) => (
          <Panel>
            <List months={months} />
          </Panel>
        )}
      </QueryView>
    </Page>
  )
}

function List({ months }: { readonly months: readonly MonthInList[] }) {
  const { t } = useTranslation()
  const monthName = useMonthName()
  return (
    <Table
      caption={t('console.month.title')}
      columns={[
        {
          id: 'month',
          label: t('console.month.month'),
          isTitle: true,
          cell: ({ month }: MonthInList) => <MonthLink month={month}>{monthName(month)}</MonthLink>,
        },
        {
          id: 'state',
          label: t('console.month.state'),
          cell: (one) => {
            const state = stateOf(one)
            return <Badge tone={stateTones[state]}>{t(`console.month.${state}`)}</Badge>
          },
        },
        {
          id: 'sealedAt',
          label: t('console.month.sealedAt'),
          cell: ({ seal }) =>
            seal === null ? t('console.unknown') : <Moment at={seal.sealedAt} />,
        },
        {
          id: 'sealedBy',
          label: t('console.month.sealedBy'),
          cell: ({ seal }) => seal?.sealedBy ?? t('console.unknown'),
        },
        {
          id: 'correctedIn',
          label: t('console.month.correctedIn'),
          cell: ({ correctedIn }) =>
            correctedIn.length === 0 ? (
              t('console.unknown')
            ) : (
              <span className="flex flex-wrap gap-x-3">
                {correctedIn.map((month) => (
                  <MonthLink key={month} month={month}>
                    {monthName(month)}
                  </MonthLink>
                ))}
              </span>
            ),
        },
      ]}
      rows={months}
      rowId={({ month }) => month}
    />
  )
}

function MonthLink(props: { readonly month: string; readonly children: string }) {
  return (
    <TextLink to={paths.month} params={{ month: props.month }}>
      {props.children}
    </TextLink>
  )
}
