// The agents of a session as a tree, and the sum of all of them in the last row.
import { useTranslation } from 'react-i18next'
import type {
  SessionAgent,
  SessionFigures,
  UsageSessionDetails,
  UsageSessionLine,
} from '../../../src/cabinet/contract/sessions.ts'
import { millionthsOf, sumOf } from '../../format/decimal.ts'
import { kopecksForParts } from '../../format/roubles.ts'
import { useDuration } from '../../format/use-duration.ts'
import { useFormat } from '../../format/use-format.ts'
import { usePackRate } from '../../format/use-rubles.ts'
import { classes } from '../../ui/classes.ts'
import { type Column, Table } from '../../ui/Table.tsx'
import { TokenCounts } from '../../ui/TokenCounts.tsx'
import { placed } from './agents.ts'
import { CacheShare, Errors, Rubles, shortId } from './cells.tsx'
import { cacheWrite, durationMs } from './figures.ts'

type Row = {
  readonly key: string
  readonly figures: SessionFigures
  readonly level: number
  /** A number: all agents beyond those that are listed. Undefined: the row of the total. */
  readonly agent: SessionAgent | number | undefined
  /** Rounded together, so that the agents add up to the total; undefined before a purchase. */
  readonly kopecks: bigint | undefined
}

/** Deeper ones are indented no further: a phone has no room for it. */
const indents = ['', 'ms-5', 'ms-10', 'ms-14'] as const

export function AgentsTable(props: {
  readonly agents: readonly SessionAgent[]
  readonly others: UsageSessionDetails['others']
  readonly total: UsageSessionLine
}) {
  const { t } = useTranslation()
  const rate = usePackRate()
  const { others, total } = props
  const parts: Omit<Row, 'kopecks'>[] = placed(props.agents).map(({ agent, level }) => ({
    ...{ key: `agent ${agent.id ?? ''}`, figures: agent, level, agent },
  }))
  if (others !== null) {
    parts.push({ key: 'others', figures: others, level: 0, agent: others.agents })
  }
  const credits = parts.map(({ figures }) => millionthsOf(figures.credits.exact))
  const kopecks = rate === undefined ? [] : kopecksForParts(credits, rate)
  const rows: Row[] = [
    ...parts.map((part, i) => ({ ...part, kopecks: kopecks[i] })),
    {
      ...{ key: 'total', figures: total, level: 0, agent: undefined },
      kopecks: rate && sumOf(kopecks),
    },
  ]
  return (
    <Table
      caption={t('sessions.agents')}
      columns={useColumns()}
      rows={rows}
      rowId={({ key }) => key}
      isWide
    />
  )
}

function useColumns(): readonly Column<Row>[] {
  const { t } = useTranslation()
  const format = useFormat()
  const duration = useDuration()
  return [
    {
      id: 'agent',
      label: t('sessions.agent'),
      isTitle: true,
      cell: (row) => <Name row={row} />,
    },
    {
      id: 'requests',
      label: t('sessions.requests'),
      isNumber: true,
      cell: ({ figures }) => (
        <>
          {format.whole(figures.requests)}
          <Errors errors={figures.errors} />
        </>
      ),
    },
    {
      id: 'tokens',
      label: t('usage.log.counts'),
      cell: ({ figures }) => (
        <TokenCounts
          input={BigInt(figures.input)}
          output={BigInt(figures.output)}
          cached={BigInt(figures.cacheRead) + cacheWrite(figures)}
        />
      ),
    },
    {
      id: 'cache',
      label: t('sessions.cacheShare'),
      isNumber: true,
      cell: ({ figures }) => <CacheShare figures={figures} />,
    },
    {
      id: 'duration',
      label: t('sessions.duration'),
      isNumber: true,
      cell: ({ figures }) => (
        <span className="whitespace-nowrap">{duration(durationMs(figures))}</span>
      ),
    },
    {
      id: 'credits',
      label: t('sessions.credits'),
      isNumber: true,
      cell: ({ figures, agent, kopecks }) => (
        <>
          <span className={classes('whitespace-nowrap', agent === undefined && 'font-semibold')}>
            {format.decimal(figures.credits.exact)}
          </span>
          {kopecks !== undefined && <Rubles kopecks={kopecks} />}
        </>
      ),
    },
  ]
}

function Name({ row }: { readonly row: Row }) {
  const { t } = useTranslation()
  const { agent, level, figures } = row
  const format = useFormat()
  if (agent === undefined) return <b>{t('sessions.total')}</b>
  if (typeof agent === 'number') {
    return <>{t('sessions.otherAgents', { count: agent, shown: format.whole(String(agent)) })}</>
  }
  return (
    <span className={classes('inline-grid', indents[Math.min(level, indents.length - 1)])}>
      <span className="whitespace-nowrap">
        {level > 0 && <span className="sr-only">{t('sessions.level', { level })} </span>}
        {agent.id === null ? t('sessions.main') : <code title={agent.id}>{shortId(agent.id)}</code>}
      </span>
      <span className="text-sm font-normal text-soft">{figures.models.join(', ')}</span>
    </span>
  )
}
