// Today from midnight to now: money, credits, requests, upstreams. The page reads itself again
// every ten seconds while it is visible, and a figure leads to the rows that it is made of.
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type {
  TodayFigure,
  Today as TodayView,
} from '../../../src/operator/console/contract/contract.ts'
import { useFormat } from '../../format/use-format.ts'
import { Credits, Moment } from '../../ui/amounts.tsx'
import { Page } from '../../ui/Page.tsx'
import { Facts, Panel } from '../../ui/parts.tsx'
import { QueryView } from '../../ui/QueryView.tsx'
import { Table } from '../../ui/Table.tsx'
import { todayQuery, upstreamsQuery } from '../queries.ts'
import { FigureLink, useFigureText } from './figures.tsx'
import { Hours } from './Hours.tsx'
import { Upstreams } from './Upstreams.tsx'

/** The figures of each card, in their order; a figure that the server does not send is left out. */
const cards = [
  { name: 'money', figures: ['taken', 'sold', 'refunded', 'disputesLost', 'inReview'] },
  { name: 'margin', figures: ['revenue', 'cost', 'margin', 'marginShare'] },
  {
    name: 'credits',
    figures: ['credited', 'spent', 'creditsRefunded', 'creditsDisputed', 'creditsAdjusted'],
  },
  { name: 'liability', figures: ['liability', 'available', 'held', 'debt'] },
  {
    name: 'requests',
    figures: [
      ...['requests', 'errors', 'refused', 'inputTokens', 'outputTokens'],
      ...['cacheReadTokens', 'cacheWriteTokens'],
    ],
  },
  { name: 'latency', figures: ['firstByteMedian', 'firstByteSlow', 'totalMedian', 'totalSlow'] },
] as const

export function Today() {
  const { t } = useTranslation()
  const today = useQuery(todayQuery)
  const upstreams = useQuery(upstreamsQuery)
  return (
    <Page
      title={t('console.today.title')}
      lead={
        today.data === undefined ? undefined : (
          <>
            {t('console.today.lead', { zone: today.data.timeZone })}{' '}
            <Moment at={today.data.now} zone={today.data.timeZone} />
          </>
        )
      }
    >
      <QueryView query={today} lines={10}>
        {(found) => (
          <div className="grid gap-6">
            <div className="grid gap-6 md:grid-cols-2 xl:grid-cols-3">
              {cards.map(({ name, figures }) => (
                <Card key={name} name={name} names={figures} all={found.figures} />
              ))}
            </div>
            <Hours hours={found.hours} timeZone={found.timeZone} />
            <QueryView query={upstreams}>
              {(now) => <Upstreams upstreams={now.upstreams} costs={found.costs} />}
            </QueryView>
            <Models models={found.models} />
            <Refused refused={found.refused} />
          </div>
        )}
      </QueryView>
    </Page>
  )
}

function Card(props: {
  readonly name: (typeof cards)[number]['name']
  readonly names: readonly string[]
  readonly all: readonly TodayFigure[]
}) {
  const { t, i18n } = useTranslation()
  const text = useFigureText()
  const shown = props.names.flatMap((name) => props.all.find((one) => one.name === name) ?? [])
  return (
    <Panel title={t(`console.today.card.${props.name}`)}>
      <Facts
        facts={shown.map((figure) => {
          const key = `console.today.figure.${figure.name}`
          return {
            name: i18n.exists(key) ? t(key as 'console.today.figure.taken') : figure.name,
            value: <FigureLink figure={figure}>{text(figure)}</FigureLink>,
          }
        })}
      />
    </Panel>
  )
}

function Models({ models }: Pick<TodayView, 'models'>) {
  const { t } = useTranslation()
  const format = useFormat()
  return (
    <div id="models" className="scroll-mt-20">
      <Panel title={t('console.today.models')}>
        {models.length === 0 ? (
          <p className="text-soft">{t('console.today.noRequests')}</p>
        ) : (
          <Table
            caption={t('console.today.models')}
            columns={[
              {
                id: 'name',
                label: t('console.request.model'),
                isTitle: true,
                cell: ({ name }: TodayView['models'][number]) => name,
              },
              {
                id: 'requests',
                label: t('console.account.requests'),
                isNumber: true,
                cell: ({ requests }) => format.whole(requests),
              },
              {
                id: 'errors',
                label: t('console.today.figure.errors'),
                isNumber: true,
                cell: ({ errors }) => format.whole(errors),
              },
              {
                id: 'spent',
                label: t('console.account.credits'),
                isNumber: true,
                cell: ({ spent }) => <Credits value={spent} />,
              },
            ]}
            rows={models}
            rowId={({ name }) => name}
          />
        )}
      </Panel>
    </div>
  )
}

function Refused({ refused }: Pick<TodayView, 'refused'>) {
  const { t } = useTranslation()
  const format = useFormat()
  return (
    <div id="refused" className="scroll-mt-20">
      <Panel title={t('console.today.refused')}>
        {refused.length === 0 ? (
          <p className="text-soft">{t('console.today.noRefused')}</p>
        ) : (
          <Facts
            facts={refused.map(({ reason, requests }) => ({
              name: reason,
              value: format.whole(requests),
            }))}
          />
        )}
      </Panel>
    </div>
  )
}
