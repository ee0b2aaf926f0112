// The public status: what works now, 90 days of each part, incidents and outages. It refreshes
// itself, and says so when it shows what was known some time ago.
import { useQuery } from '@tanstack/react-query'
import { Rss } from 'lucide-react'
import { Trans, useTranslation } from 'react-i18next'
import type { ServiceState, Status as StatusAnswer } from '../../../src/cabinet/contract/status.ts'
import { useFormat } from '../../format/use-format.ts'
import { SitePage } from '../../frame/SiteFrame.tsx'
import { brandQuery, statusQuery } from '../../runtime/queries.ts'
import { Banner } from '../../ui/Banner.tsx'
import { classes } from '../../ui/classes.ts'
import { PanelSkeletons } from '../../ui/parts.tsx'
import { QueryView } from '../../ui/QueryView.tsx'
import { TextAnchor } from '../../ui/TextLink.tsx'
import { Incidents, isActive } from './Incidents.tsx'
import { Outages } from './Outages.tsx'
import { Parts } from './Parts.tsx'

export function Status() {
  const { t, i18n } = useTranslation()
  const { data: brand } = useQuery(brandQuery)
  const email = brand?.supportEmail ?? ''
  const query = useQuery(statusQuery)
  const feed = i18n.language === 'en' ? '/status.xml?lang=en' : '/status.xml'
  return (
    <SitePage title={t('status.title')} description={t('status.description')}>
      <QueryView query={query} skeleton={<PanelSkeletons lines={[1, 14, 4]} />}>
        {(status) => <Whole status={status} isCurrent={status.isCurrent && !query.isError} />}
      </QueryView>
      <div className="grid gap-x-10 gap-y-4 sm:flex sm:flex-wrap">
        <p className="text-soft">
          <TextAnchor href={feed} className="inline-flex items-center gap-1.5">
            <Rss aria-hidden className="size-4" />
            {t('status.feed')}
          </TextAnchor>
        </p>
        <p className="text-soft">
          <Trans
            i18nKey="status.support"
            values={{ email }}
            components={{ a: <TextAnchor href={`mailto:${email}`} /> }}
          />
        </p>
      </div>
    </SitePage>
  )
}

function Whole(props: { readonly status: StatusAnswer; readonly isCurrent: boolean }) {
  const { t } = useTranslation()
  const format = useFormat()
  const { status, isCurrent } = props
  const { at, parts, incidents, outages } = status
  const active = incidents.filter(isActive)
  const past = incidents.filter((one) => !isActive(one))
  return (
    <>
      <div role="status" className="grid gap-4">
        <Summary status={status} isCurrent={isCurrent} />
      </div>
      {active.length > 0 && <Incidents title={t('status.active')} incidents={active} />}
      {parts.length > 0 && <Parts parts={parts} />}
      <div className={classes('grid items-start gap-6', past.length > 0 && 'lg:grid-cols-2')}>
        <Outages outages={outages} hasHistory={parts.some(({ days }) => days.length > 0)} />
        {past.length > 0 && <Incidents title={t('status.past')} incidents={past} />}
      </div>
      {at !== null && (
        <p className="text-sm text-soft">{t('status.at', { time: format.moment(at) })}</p>
      )}
    </>
  )
}

function Summary(props: { readonly status: StatusAnswer; readonly isCurrent: boolean }) {
  const { t } = useTranslation()
  const format = useFormat()
  const { at, parts, incidents } = props.status
  if (at === null) return <Banner tone="warn" title={t('status.nothingKnown')} />
  if (!props.isCurrent) {
    return (
      <Banner tone="warn" title={t('status.stale')}>
        {t('status.staleText', { time: format.moment(at) })}
      </Banner>
    )
  }
  const hasPartIn = (...states: ServiceState[]) => parts.some(({ state }) => states.includes(state))
  const measured = parts.filter(({ state }) => state !== 'unmeasured')
  if (hasPartIn('down')) {
    const isWhole = measured.every(({ state }) => state === 'down')
    return <Banner tone="bad" title={t(isWhole ? 'status.allDown' : 'status.someDown')} />
  }
  // The operator knows of something that no probe sees.
  const open = incidents.filter(({ kind, to }) => kind === 'incident' && to === null)
  if (open.length > 0) {
    const isMended = open.every(({ updates }) => updates[0]?.state === 'watching')
    return (
      <Banner tone={isMended ? 'warn' : 'bad'} title={t('status.incidentOpen')}>
        {open.map(({ title }) => format.text(title)).join('. ')}
      </Banner>
    )
  }
  if (hasPartIn('slow', 'unknown', 'paused', 'maintenance')) {
    return <Banner tone="warn" title={t('status.someSlow')} />
  }
  if (!hasPartIn('unmeasured')) return <Banner tone="good" title={t('status.allWell')} />
  // Nobody has looked at a part of it: that is not "all well".
  if (hasPartIn('working')) return <Banner tone="good" title={t('status.measuredWell')} />
  return <Banner tone="note" title={t('status.nothingMeasured')} />
}
