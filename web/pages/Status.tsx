// The public status of each part of the service, refreshed twice a minute.
import { useQuery } from '@tanstack/react-query'
import { Trans, useTranslation } from 'react-i18next'
import type { ServiceState, Status as StatusAnswer } from '../../src/cabinet/contract/status.ts'
import { useFormat } from '../format/use-format.ts'
import { SitePage } from '../frame/SiteFrame.tsx'
import { brandQuery, statusQuery } from '../runtime/queries.ts'
import { Banner } from '../ui/Banner.tsx'
import { Badge, type BadgeTone, Panel } from '../ui/parts.tsx'
import { QueryView } from '../ui/QueryView.tsx'
import { TextAnchor } from '../ui/TextLink.tsx'

const tones: Readonly<Record<ServiceState, BadgeTone>> = {
  working: 'good',
  slow: 'warn',
  down: 'bad',
  paused: 'note',
  unknown: 'warn',
}

export function Status() {
  const { t } = useTranslation()
  const { data: brand } = useQuery(brandQuery)
  const email = brand?.supportEmail ?? ''
  return (
    <SitePage isNarrow title={t('status.title')} description={t('status.description')}>
      <QueryView query={useQuery(statusQuery)} lines={6}>
        {(status) => <Parts status={status} />}
      </QueryView>
      <p className="text-soft">
        <Trans
          i18nKey="status.support"
          values={{ email }}
          components={{ a: <TextAnchor href={`mailto:${email}`} /> }}
        />
      </p>
    </SitePage>
  )
}

function Parts({ status }: { readonly status: StatusAnswer }) {
  const { t } = useTranslation()
  const format = useFormat()
  const hasPartIn = (state: ServiceState) => status.parts.some((part) => part.state === state)
  const isSlow = hasPartIn('slow') || hasPartIn('unknown') || hasPartIn('paused')
  return (
    <>
      <div role="status">
        {hasPartIn('down') ? (
          <Banner tone="bad" title={t('status.someDown')} />
        ) : (
          <Banner
            tone={isSlow ? 'warn' : 'good'}
            title={t(isSlow ? 'status.someSlow' : 'status.allWell')}
          />
        )}
      </div>
      <Panel>
        <ul className="grid gap-4">
          {status.parts.map(({ part, state }) => (
            <li key={part} className="flex flex-wrap items-center justify-between gap-x-6 gap-y-1">
              <div className="min-w-0 flex-1 basis-52">
                <p className="font-medium">{t(`status.part.${part}`)}</p>
                <p className="text-sm text-soft">{t(`status.text.${part}`)}</p>
              </div>
              <Badge tone={tones[state]}>{t(`status.state.${state}`)}</Badge>
            </li>
          ))}
        </ul>
        <p className="mt-5 border-t border-line pt-3 text-sm text-soft">
          {t('status.at', { time: format.moment(status.at) })}
        </p>
      </Panel>
    </>
  )
}
