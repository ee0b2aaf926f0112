// The latest requests as the ledger has them; they come with live updates and without a reload.
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { RequestLine, Requests } from '../../../src/cabinet/contract/contract.ts'
import { requestsKey } from '../../runtime/asks.ts'
import { useTick } from '../../runtime/tick.ts'
import { Credits, Moment, TokenCounts } from '../../ui/amounts.tsx'
import { Badge, Panel } from '../../ui/parts.tsx'
import { type Column, Table } from '../../ui/Table.tsx'

/** On a phone each is a card, and twenty of them a long way to the foot of the page. */
const SHOWN_MAX = 6

/** What live updates brought; undefined until the first of them. */
export function useRequests(): Requests | undefined {
  return useQuery<Requests>({ queryKey: requestsKey, enabled: false, staleTime: Infinity }).data
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
      cell: (line) => <span className="break-all">{line.model ?? '—'}</span>,
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
