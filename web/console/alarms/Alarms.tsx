// What is wrong now, urgent things first, each with its runbook; and all runbooks.
import { useQuery } from '@tanstack/react-query'
import { CircleCheck } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import type { Alarm } from '../../../src/operator/console/contract/health.ts'
import { Moment } from '../../ui/amounts.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { ButtonLink } from '../../ui/Button.tsx'
import { plainText } from '../../ui/markdown/blocks.ts'
import { Page } from '../../ui/Page.tsx'
import { Badge, Empty, Panel } from '../../ui/parts.tsx'
import { QueryView } from '../../ui/QueryView.tsx'
import { TextLink } from '../../ui/TextLink.tsx'
import { useLines } from '../command/use-lines.ts'
import { paths } from '../paths.ts'
import { alarmsQuery } from '../queries.ts'
import { useName } from '../use-name.ts'
import { documentQuery } from './runbooks.ts'
import { runbookHeadings } from './sections.ts'

export function Alarms() {
  const { t } = useTranslation()
  const query = useQuery(alarmsQuery)
  return (
    <Page
      title={t('console.alarms.title')}
      lead={
        query.data && (
          <>
            {t('console.alarms.lead')}{' '}
            <span className="whitespace-nowrap">
              <Moment at={query.data.at} />
            </span>
          </>
        )
      }
    >
      <div className="grid gap-6">
        <QueryView query={query} lines={6}>
          {({ alarms, unchecked }) => (
            <>
              {unchecked.map(({ check, why }) => (
                <Banner key={check} tone="warn" title={t('console.alarms.unchecked', { check })}>
                  {why}
                </Banner>
              ))}
              <Firing alarms={alarms} isSure={unchecked.length === 0} />
            </>
          )}
        </QueryView>
        <AllRunbooks />
      </div>
    </Page>
  )
}

function Firing(props: { readonly alarms: readonly Alarm[]; readonly isSure: boolean }) {
  const { t } = useTranslation()
  const { alarms, isSure } = props
  if (alarms.length === 0) {
    if (!isSure) return null
    const words = { title: t('console.alarms.none'), text: t('console.alarms.noneText') }
    return (
      <Panel>
        <Empty icon={CircleCheck} {...words} />
      </Panel>
    )
  }
  return (
    <ul className="grid gap-3">
      {alarms.map((alarm) => (
        <OneAlarm key={`${alarm.name} ${alarm.detail}`} alarm={alarm} />
      ))}
    </ul>
  )
}

function OneAlarm({ alarm }: { readonly alarm: Alarm }) {
  const { t } = useTranslation()
  const name = useName('alarm')
  const shown = useLines()
  const { severity, detail, alert, runbook } = alarm
  const [document = '', section = ''] = runbook.split('#')
  return (
    <li className="grid gap-3 rounded-box border border-line bg-sheet p-5">
      <div className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
        <Badge tone={severity === 'page' ? 'bad' : 'warn'}>{t(`console.alarms.${severity}`)}</Badge>
        <h2 className="text-lg">{name(alarm.name)}</h2>
      </div>
      <p className="wrap-anywhere">{shown(detail)}</p>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <ButtonLink to={paths.runbook} params={{ document, section }} isSmall>
          {t('console.alarms.runbook')}
        </ButtonLink>
        {alert !== null && (
          <span className="text-sm text-soft">{t('console.alarms.alert', { alert })}</span>
        )}
      </div>
    </li>
  )
}

function AllRunbooks() {
  const { t } = useTranslation()
  return (
    <Panel title={t('console.alarms.all')} hint={t('console.alarms.allHint')}>
      <QueryView query={useQuery(documentQuery('runbooks'))}>
        {(blocks) => (
          <ul lang="en" className="grid gap-x-8 gap-y-2 md:grid-cols-2">
            {runbookHeadings(blocks).map(({ id, inside }) => (
              <li key={id}>
                <TextLink to={paths.runbook} params={{ document: 'runbooks', section: id }}>
                  {plainText(inside)}
                </TextLink>
              </li>
            ))}
          </ul>
        )}
      </QueryView>
    </Panel>
  )
}
