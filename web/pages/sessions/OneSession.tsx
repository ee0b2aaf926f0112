// One session: its cost and figures, and each of its agents below the one that started it. The
// credits of the agents are exact, so that they add up to the total on the screen.
import { useQuery } from '@tanstack/react-query'
import { ArrowLeft, Layers, ListFilter } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import type {
  SessionKind,
  UsageSessionDetails,
  UsageSessionLine,
} from '../../../src/cabinet/contract/sessions.ts'
import { millionthsOf } from '../../format/decimal.ts'
import { usePhrases } from '../../format/phrases.ts'
import { useDuration } from '../../format/use-duration.ts'
import { useFormat } from '../../format/use-format.ts'
import { useRubles } from '../../format/use-rubles.ts'
import { UsageTabs } from '../../frame/UsageTabs.tsx'
import { paths } from '../../paths.ts'
import { isApiRefusal } from '../../runtime/api.ts'
import { usageSessionQuery } from '../../runtime/queries.ts'
import { useTick } from '../../runtime/tick.ts'
import { useZone } from '../../runtime/zone.ts'
import { Moment } from '../../ui/amounts.tsx'
import { ButtonLink } from '../../ui/Button.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Page } from '../../ui/Page.tsx'
import { Badge, Empty, Facts, Panel } from '../../ui/parts.tsx'
import { QueryView } from '../../ui/QueryView.tsx'
import { dayAt, type UsageSearch } from '../usage/period.ts'
import { AgentsTable } from './AgentsTable.tsx'
import { CacheShare, shortId } from './cells.tsx'
import { cacheWrite, durationMs, isActive } from './figures.ts'
import { searchOf } from './search.ts'

type Props = { readonly kind: SessionKind; readonly id: string }

export function OneSession({ kind, id }: Props) {
  const { t } = useTranslation()
  useTick()
  const query = useQuery(usageSessionQuery({ kind, id }))
  const name = t(kind === 'label' ? 'sessions.label' : 'sessions.session')
  const isUnknown = query.data === undefined && isApiRefusal(query.error, 'usage_session_unknown')
  return (
    <Page
      title={`${name} ${shortId(id)}`}
      lead={
        <span className="flex flex-wrap items-center gap-2">
          <code className="break-all">{id}</code>
          <CopyButton isBare value={id} label={t('sessions.copy')} />
          {query.data !== undefined && isActive(query.data.line) && (
            <Badge tone="good">{t('sessions.active')}</Badge>
          )}
        </span>
      }
      actions={
        <>
          <ButtonLink to={paths.sessions} search={searchOf(kind)} icon={ArrowLeft}>
            {t(kind === 'label' ? 'sessions.allLabels' : 'sessions.all')}
          </ButtonLink>
          {query.data !== undefined && <LogLink line={query.data.line} />}
        </>
      }
    >
      <UsageTabs />
      {isUnknown ? (
        <Panel>
          <Empty icon={Layers} title={t('sessions.unknown')} text={t('sessions.unknownText')} />
        </Panel>
      ) : (
        <QueryView query={query} lines={8}>
          {(details) => <Details {...details} />}
        </QueryView>
      )}
    </Page>
  )
}

/** The requests of the session, on the days on which it ran. */
function LogLink({ line }: { readonly line: UsageSessionLine }) {
  const { t } = useTranslation()
  const zone = useZone()
  const [from, to] = [line.firstAt, line.lastAt].map((at) => dayAt(zone, Date.parse(at)))
  const search = { period: 'own', from, to, [line.kind]: line.id } as UsageSearch
  return (
    <ButtonLink to={paths.usage} search={search} icon={ListFilter} tone="main">
      {t('sessions.log')}
    </ButtonLink>
  )
}

function Details({ line, agents, others }: UsageSessionDetails) {
  const { t } = useTranslation()
  return (
    <>
      <Panel title={t('sessions.summary')}>
        <Summary line={line} />
      </Panel>
      {agents.length > 0 && (
        <Panel title={t('sessions.agents')} hint={t('sessions.agentsHint')}>
          <AgentsTable agents={agents} others={others} total={line} />
        </Panel>
      )}
    </>
  )
}

function Summary({ line }: { readonly line: UsageSessionLine }) {
  const { t } = useTranslation()
  const format = useFormat()
  const phrases = usePhrases()
  const duration = useDuration()
  const rubles = useRubles()(millionthsOf(line.credits.exact))
  const money = [
    { name: t('sessions.cost'), value: <b>{phrases.creditsExact(line.credits)}</b> },
    ...(rubles === undefined ? [] : [{ name: t('sessions.costRubles'), value: rubles }]),
    ...(line.cacheSaved.exact.startsWith('-') || line.cacheSaved.exact === '0'
      ? []
      : [{ name: t('sessions.saved'), value: phrases.creditsExact(line.cacheSaved) }]),
    { name: t('sessions.requests'), value: format.whole(line.requests) },
    { name: t('sessions.failed'), value: format.whole(line.errors) },
    { name: t('sessions.models'), value: line.models.join(', ') },
  ]
  const others = [
    { name: t('sessions.first'), value: <Moment at={line.firstAt} /> },
    { name: t('sessions.last'), value: <Moment at={line.lastAt} isAgo /> },
    { name: t('sessions.duration'), value: duration(durationMs(line)) },
    { name: t('sessions.busy'), value: duration(Number(line.busyMs)) },
    { name: t('sessions.input'), value: format.whole(line.input) },
    { name: t('sessions.output'), value: format.whole(line.output) },
    { name: t('sessions.cacheRead'), value: format.whole(line.cacheRead) },
    { name: t('sessions.cacheWrite'), value: format.whole(cacheWrite(line)) },
    { name: t('sessions.cacheShare'), value: <CacheShare figures={line} /> },
  ]
  return (
    <>
      <div className="grid items-start gap-x-12 gap-y-1 md:grid-cols-2">
        <Facts facts={money} />
        <Facts facts={others} />
      </div>
      {Number(line.busyMs) > durationMs(line) && (
        <p className="mt-3 text-sm text-soft">{t('sessions.busyHint')}</p>
      )}
    </>
  )
}
