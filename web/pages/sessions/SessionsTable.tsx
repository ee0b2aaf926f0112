// The list of sessions, the latest first: what each cost, and what it consisted of.
import { useTranslation } from 'react-i18next'
import type { SessionKind, UsageSessionLine } from '../../../src/cabinet/contract/sessions.ts'
import { useDuration } from '../../format/use-duration.ts'
import { useFormat } from '../../format/use-format.ts'
import { paths } from '../../paths.ts'
import { Credits, Moment } from '../../ui/amounts.tsx'
import { Badge } from '../../ui/parts.tsx'
import { type Column, Table } from '../../ui/Table.tsx'
import { TextLink } from '../../ui/TextLink.tsx'
import { CacheShare, Errors, RublesOf, shortId } from './cells.tsx'
import { durationMs, isActive } from './figures.ts'
import { searchOf } from './search.ts'

export function SessionsTable(props: {
  readonly kind: SessionKind
  readonly lines: readonly UsageSessionLine[]
}) {
  const { t } = useTranslation()
  return (
    <Table
      caption={t('sessions.table')}
      columns={useColumns(props.kind)}
      rows={props.lines}
      rowId={({ id }) => id}
      isWide
    />
  )
}

function useColumns(kind: SessionKind): readonly Column<UsageSessionLine>[] {
  const { t } = useTranslation()
  const format = useFormat()
  const duration = useDuration()
  return [
    {
      id: 'id',
      label: t(kind === 'label' ? 'sessions.label' : 'sessions.session'),
      isTitle: true,
      cell: (line) => <Name line={line} kind={kind} />,
    },
    { id: 'last', label: t('sessions.last'), cell: (line) => <Moment at={line.lastAt} isAgo /> },
    {
      id: 'duration',
      label: t('sessions.duration'),
      isNumber: true,
      cell: (line) => <span className="whitespace-nowrap">{duration(durationMs(line))}</span>,
    },
    {
      id: 'requests',
      label: t('sessions.requests'),
      isNumber: true,
      cell: (line) => (
        <>
          {format.whole(line.requests)}
          <Errors errors={line.errors} />
        </>
      ),
    },
    {
      id: 'cache',
      label: t('sessions.cacheShare'),
      isNumber: true,
      cell: (line) => <CacheShare figures={line} />,
    },
    {
      id: 'credits',
      label: t('sessions.credits'),
      isNumber: true,
      cell: (line) => (
        <>
          <Credits value={line.credits} />
          <RublesOf credits={line.credits} />
        </>
      ),
    },
  ]
}

function Name({ line, kind }: { readonly line: UsageSessionLine; readonly kind: SessionKind }) {
  const { t } = useTranslation()
  const { id, agents, models } = line
  return (
    <span className="grid gap-1">
      <span className="flex flex-wrap items-center gap-x-2">
        <TextLink to={paths.sessions} search={searchOf(kind, id)} className="py-1">
          <code title={id}>{shortId(id)}</code>
        </TextLink>
        {isActive(line) && <Badge tone="good">{t('sessions.active')}</Badge>}
      </span>
      <span className="text-sm font-normal text-soft">
        {agents > 1 && <>{t('sessions.agentsCount', { count: agents })} · </>}
        {models.join(', ')}
      </span>
    </span>
  )
}
