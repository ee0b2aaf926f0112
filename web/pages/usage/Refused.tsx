// Rejected requests of the period by reason. Only requests that the model itself rejected have a
// line in the log; the button shows those lines.
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { RefusedLine } from '../../../src/cabinet/contract/usage.ts'
import { useFormat } from '../../format/use-format.ts'
import { paths } from '../../paths.ts'
import { refusedQuery } from '../../runtime/queries.ts'
import { useZone } from '../../runtime/zone.ts'
import { Button } from '../../ui/Button.tsx'
import { Panel } from '../../ui/parts.tsx'
import { type Column, Table } from '../../ui/Table.tsx'
import { TextLink } from '../../ui/TextLink.tsx'
import type { Span } from './period.ts'

/** Empty while no request of the period was rejected. */
export function Refused(props: {
  readonly span: Pick<Span, 'from' | 'to'>
  /** Shows in the log what the model rejected; absent where there is no log. */
  readonly onShow?: () => void
}) {
  const { span, onShow } = props
  const { t } = useTranslation()
  const zone = useZone()
  const { data } = useQuery(refusedQuery({ from: span.from, to: span.to, zone }))
  const columns = useColumns(onShow)
  if (data === undefined || data.lines.length === 0) return null
  return (
    <Panel
      title={t('usage.refused.title')}
      hint={
        <>
          {t('usage.refused.hint', { days: data.keptDays })}{' '}
          <TextLink to={paths.docs} params={{ page: 'errors' }}>
            {t('usage.refused.errors')}
          </TextLink>
        </>
      }
    >
      <Table
        caption={t('usage.refused.title')}
        columns={columns}
        rows={data.lines}
        rowId={({ reason }) => reason}
      />
    </Panel>
  )
}

function useColumns(onShow: (() => void) | undefined): readonly Column<RefusedLine>[] {
  const { t } = useTranslation()
  const format = useFormat()
  return [
    {
      id: 'reason',
      label: t('usage.refused.reason'),
      isTitle: true,
      cell: ({ reason }) => (
        <span className="inline-flex flex-wrap items-center gap-x-3 gap-y-1">
          {t(`usage.refused.reasons.${reason}`)}
          {reason === 'byModel' && onShow !== undefined && (
            <Button isSmall onClick={onShow}>
              {t('usage.refused.show')}
            </Button>
          )}
        </span>
      ),
    },
    {
      id: 'requests',
      label: t('usage.refused.requests'),
      isNumber: true,
      cell: ({ requests }) => format.whole(requests),
    },
    {
      id: 'last',
      label: t('usage.refused.last'),
      isNumber: true,
      cell: ({ lastAt }) => (
        <time dateTime={lastAt} title={format.moment(lastAt)} className="figures">
          {format.second(lastAt)}
        </time>
      ),
    },
  ]
}
