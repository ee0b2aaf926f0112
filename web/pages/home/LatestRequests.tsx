// The latest requests from the ledger; live updates deliver them.
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { RecentRequests, RequestLine } from '../../../src/cabinet/contract/contract.ts'
import { requestsKey } from '../../runtime/queries.ts'
import { useTick } from '../../runtime/tick.ts'
import { Credits, Moment } from '../../ui/amounts.tsx'
import { Badge, Panel } from '../../ui/parts.tsx'
import { type Column, Table } from '../../ui/Table.tsx'
import { TokenCounts } from '../../ui/TokenCounts.tsx'

/** On a phone each request is a card; twenty would make the page very long. */
const SHOWN_MAX = 6

/** The requests of the last live update; undefined before the first. */
export function useRequests(): RecentRequests | undefined {
  return useQuery<RecentRequests>({ queryKey: requestsKey, enabled: false, staleTime: Infinity })
    .data
}

export function LatestRequests() {
  const { t } = useTranslation()
  useTick()
  const requests = useRequests()
  const columns = useColumns()
  if (requests === undefined || requests.latest.length === 0) return null
  return (
    <Panel title={t('home.latest.title')} hint={t('home.latest.hint')}>
      <Table
        caption={t('home.latest.title')}
        isWide
        columns={columns}
        rows={requests.latest.slice(0, SHOWN_MAX)}
        rowId={({ requestId }) => requestId}
      />
    </Panel>
  )
}

function useColumns(): readonly Column<RequestLine>[] {
  const { t } = useTranslation()
  return [
    {
      id: 'model',
      label: t('home.latest.model'),
      isTitle: true,
      cell: (line) => (
        <span className="max-lg:break-all lg:wrap-break-word">{line.model ?? '—'}</span>
      ),
    },
    { id: 'time', label: t('home.latest.time'), cell: (line) => <Moment at={line.at} isAgo /> },
    {
      id: 'counts',
      label: t('home.latest.counts'),
      cell: (line) => (
        <TokenCounts
          input={BigInt(line.input)}
          output={BigInt(line.output)}
          cached={BigInt(line.cacheRead) + BigInt(line.cacheWrite)}
        />
      ),
    },
    {
      id: 'request',
      label: t('home.latest.request'),
      cell: (line) => <code className="text-sm break-all text-soft">{line.requestId}</code>,
    },
    {
      id: 'credits',
      label: t('home.latest.credits'),
      isNumber: true,
      cell: (line) =>
        line.isFree ? (
          <span title={t('home.latest.freeText')}>
            <Badge>{t('home.latest.free')}</Badge>
          </span>
        ) : (
          <Credits value={line.credits} />
        ),
    },
  ]
}
