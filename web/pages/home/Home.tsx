// The overview: balance and what it means, what stands in the way, what to do next, where the
// credits went. Live updates write into the same answers, so the page follows without a reload.
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { homeAsk } from '../../runtime/asks.ts'
import { Asked } from '../../ui/Asked.tsx'
import { Page } from '../../ui/Page.tsx'
import { BalancePanel } from './BalancePanel.tsx'
import { FirstSteps } from './FirstSteps.tsx'
import { LatestRequests } from './LatestRequests.tsx'
import { Notices } from './Notices.tsx'
import { UsagePanel } from './UsagePanel.tsx'

export function Home() {
  const { t } = useTranslation()
  return (
    <Page title={t('home.title')}>
      <Asked query={useQuery(homeAsk)} lines={8}>
        {(home) => (
          <>
            <Notices home={home} />
            <FirstSteps nextStep={home.nextStep} />
            <BalancePanel home={home} />
            <UsagePanel home={home} />
            <LatestRequests />
          </>
        )}
      </Asked>
    </Page>
  )
}
