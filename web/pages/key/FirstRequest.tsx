// Shows whether the key is in use: waits for the first request and reports its arrival.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Home, Time } from '../../../src/cabinet/contract/contract.ts'
import { usePhrases } from '../../format/phrases.ts'
import { useFormat } from '../../format/use-format.ts'
import { homeQuery } from '../../runtime/queries.ts'
import { useTick } from '../../runtime/tick.ts'
import { Banner } from '../../ui/Banner.tsx'
import { useRequests } from '../home/LatestRequests.tsx'

/** `keyCreatedAt`: requests before it were made with a former key. */
export function FirstRequest({ keyCreatedAt }: { readonly keyCreatedAt: Time }) {
  const { data: home } = useQuery(homeQuery)
  return home === undefined ? null : <RequestStatus home={home} keyCreatedAt={keyCreatedAt} />
}

function RequestStatus(props: { readonly home: Home; readonly keyCreatedAt: Time }) {
  const { home, keyCreatedAt } = props
  const { t } = useTranslation()
  const format = useFormat()
  const phrases = usePhrases()
  useTick()
  const requests = useRequests()
  const [wasWaiting] = useState(home.requests.firstAt === null)
  const isWaiting = home.requests.firstAt === null
  const line = requests?.latest[0]
  const isFormer = line !== undefined && Date.parse(line.at) < Date.parse(keyCreatedAt)
  const summary =
    line === undefined
      ? undefined
      : {
          model: line.model ?? '',
          credits: phrases.credits(line.credits),
          time: format.ago(line.at),
        }
  return (
    <div role="status" className="empty:hidden">
      {isWaiting ? (
        <div className="flex items-center gap-4 rounded-box border border-dashed border-edge p-4">
          <span aria-hidden className="relative grid size-4 shrink-0 place-items-center">
            <span className="absolute size-4 animate-ping rounded-full bg-accent/50" />
            <span className="size-2.5 rounded-full bg-accent" />
          </span>
          <div>
            <p className="font-semibold">{t('start.waiting')}</p>
            <p className="text-soft">{t('start.waitingText')}</p>
          </div>
        </div>
      ) : wasWaiting ? (
        <Banner tone="good" title={t('start.arrived')}>
          {summary === undefined ? t('start.arrivedPlain') : t('start.arrivedText', summary)}
        </Banner>
      ) : (
        summary !== undefined && (
          <Banner tone={isFormer ? 'note' : 'good'}>
            {t(isFormer ? 'start.lastSeenFormer' : 'start.lastSeen', summary)}
          </Banner>
        )
      )}
    </div>
  )
}
