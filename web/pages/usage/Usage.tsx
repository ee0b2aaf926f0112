// The usage page: a chart of the chosen days, the totals by model, rejected requests by reason, and
// every request that has a line in the log. The choice is
// in the address, so that a link shows the same.
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { ChartColumn, FileDown } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import type { Home } from '../../../src/cabinet/contract/contract.ts'
import { paths } from '../../paths.ts'
import { addressOf } from '../../runtime/api.ts'
import { homeQuery, usageQuery } from '../../runtime/queries.ts'
import { useZone } from '../../runtime/zone.ts'
import { ButtonAnchor, ButtonLink } from '../../ui/Button.tsx'
import { Page } from '../../ui/Page.tsx'
import { Empty, Panel } from '../../ui/parts.tsx'
import { QueryView } from '../../ui/QueryView.tsx'
import { ChartPanel } from './ChartPanel.tsx'
import { Log } from './Log.tsx'
import { PeriodChoice } from './PeriodChoice.tsx'
import { DEFAULT_PERIOD, dayAt, filtered, spanOf, type UsageSearch, without } from './period.ts'
import { Refused } from './Refused.tsx'
import { Totals } from './UsageTable.tsx'

export function Usage() {
  const { t } = useTranslation()
  const zone = useZone()
  const home = useQuery(homeQuery)
  const search: UsageSearch = useSearch({ from: '/owner/usage' })
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
      <QueryView query={home} lines={8}>
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
  const query = useQuery(usageQuery({ ...span, zone }))
  const change = (next: UsageSearch) =>
    void navigate({ to: paths.usage, search: next, resetScroll: false })
  const period = search.period ?? DEFAULT_PERIOD
  const rest = without(search, 'period', 'from', 'to', 'before', 'open')
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
      <QueryView query={query} lines={10}>
        {(usage) => (
          <>
            <ChartPanel
              {...{ usage, span, search }}
              isBusy={query.isPlaceholderData}
              onChange={change}
            />
            {usage.totals.length > 0 && <Totals totals={usage.totals} />}
          </>
        )}
      </QueryView>
      <Refused span={span} onShow={() => change(filtered(search, 'ending', 'refused'))} />
      <Log {...{ span, today, search }} onChange={change} />
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
