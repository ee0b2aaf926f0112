// The usage page: two sentences about the chosen days, the explorer, the totals, rejected requests
// by reason, and every request that has a line in the log. The choice is in the address, so that a
// link shows the same.
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { ChartColumn, FileDown } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import type { Home } from '../../../src/cabinet/contract/contract.ts'
import { UsageTabs } from '../../frame/UsageTabs.tsx'
import { paths } from '../../paths.ts'
import { addressOf } from '../../runtime/api.ts'
import { homeQuery, pricesQuery, usageQuery } from '../../runtime/queries.ts'
import { useZone } from '../../runtime/zone.ts'
import { ButtonAnchor, ButtonLink } from '../../ui/Button.tsx'
import { Page } from '../../ui/Page.tsx'
import { Empty, Panel, PanelSkeletons } from '../../ui/parts.tsx'
import { QueryView } from '../../ui/QueryView.tsx'
import { Explorer } from './explorer/Explorer.tsx'
import { Totals } from './explorer/Totals.tsx'
import { Headlines } from './Headlines.tsx'
import { Log } from './log/Log.tsx'
import { PeriodChoice } from './PeriodChoice.tsx'
import {
  DEFAULT_PERIOD,
  dayAt,
  filtered,
  spanOf,
  type UsageSearch,
  usageSearchOf,
  without,
} from './period.ts'
import { Refused } from './Refused.tsx'

const LOG_ID = 'log'

export function Usage() {
  const { t } = useTranslation()
  const zone = useZone()
  const home = useQuery(homeQuery)
  // The router adds what usageSearchOf left out.
  const search = usageSearchOf(useSearch({ from: '/owner/usage' }))
  const { from, to } = spanOf(search, zone, Date.now())
  const isUsed = home.data?.requests.total !== '0'
  return (
    <Page
      title={t('usage.title')}
      lead={t('usage.lead', { zone })}
      actions={
        isUsed && (
          <ButtonAnchor
            href={addressOf('/api/statement', {}, { from, to, zone })}
            download
            icon={FileDown}
            title={t('usage.statementHint')}
          >
            {t('usage.statement')}
          </ButtonAnchor>
        )
      }
    >
      <UsageTabs />
      <QueryView query={home} skeleton={<PanelSkeletons lines={[10, 5]} />}>
        {({ requests, nextStep }) =>
          requests.total === '0' ? (
            <>
              <NoRequestsYet nextStep={nextStep} />
              <Refused span={{ from, to }} />
            </>
          ) : (
            <UsageReport search={search} zone={zone} />
          )
        }
      </QueryView>
    </Page>
  )
}

function UsageReport({ search, zone }: { readonly search: UsageSearch; readonly zone: string }) {
  const navigate = useNavigate()
  const nowMs = Date.now()
  const today = dayAt(zone, nowMs)
  const span = spanOf(search, zone, nowMs)
  const { split, compare } = search
  const query = useQuery(
    usageQuery({ ...span, zone, split, compare: compare === true ? '1' : undefined }),
  )
  const prices = useQuery(pricesQuery)
  const catalogue = prices.data?.models.map(({ id }) => id) ?? []
  const change = (next: UsageSearch) =>
    void navigate({ to: paths.usage, search: next, resetScroll: false })
  const showLog = (next: UsageSearch) => {
    change(next)
    document.getElementById(LOG_ID)?.scrollIntoView()
  }
  const period = search.period ?? DEFAULT_PERIOD
  const rest = without(search, 'period', 'from', 'to', 'hour', 'before', 'open')
  return (
    <>
      <PeriodChoice
        {...{ period, span, today }}
        onChange={(chosen, days) =>
          change({
            ...rest,
            ...(chosen === DEFAULT_PERIOD ? {} : { period: chosen }),
            ...(days === undefined ? {} : { from: days.from, to: days.to }),
          })
        }
      />
      <QueryView query={query} skeleton={<PanelSkeletons lines={[10, 5]} />}>
        {(usage) => (
          <>
            <Headlines whole={usage.whole} period={period} />
            <Explorer
              {...{ usage, catalogue, span, search }}
              isBusy={query.isPlaceholderData}
              onChange={change}
              onShowLog={showLog}
            />
            {usage.totals.length > 0 && (
              <Totals usage={usage} onShow={(key) => showLog(filtered(search, usage.split, key))} />
            )}
          </>
        )}
      </QueryView>
      <Refused span={span} onShow={() => showLog(filtered(search, 'ending', 'refused'))} />
      <div id={LOG_ID} className="min-w-0 scroll-mt-20">
        <Log {...{ span, today, search }} onChange={change} />
      </div>
    </>
  )
}

function NoRequestsYet({ nextStep }: { readonly nextStep: Home['nextStep'] }) {
  const { t } = useTranslation()
  const isNew = nextStep === 'buy'
  return (
    <Panel>
      <Empty
        icon={ChartColumn}
        title={t('usage.never')}
        text={`${t('usage.neverText')} ${isNew ? t('usage.neverBuy') : ''}`.trim()}
        action={
          <ButtonLink to={isNew ? paths.packs : paths.key} tone="main">
            {t(isNew ? 'usage.toPacks' : 'usage.toKey')}
          </ButtonLink>
        }
      />
    </Panel>
  )
}
