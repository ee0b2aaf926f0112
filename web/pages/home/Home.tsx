// The overview: notices, first steps, balance, usage and the latest requests. Live updates write
// into the same queries, so the page changes without a reload.
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { homeQuery } from '../../runtime/queries.ts'
import { Page } from '../../ui/Page.tsx'
import { QueryView } from '../../ui/QueryView.tsx'
import { BalancePanel } from './BalancePanel.tsx'
import { FirstSteps } from './FirstSteps.tsx'
import { LatestRequests } from './LatestRequests.tsx'
import { Notices } from './Notices.tsx'
import { UsagePanel } from './UsagePanel.tsx'

export function Home() {
  const { t } = useTranslation()
  return (
    <Page title={t('home.title')}>
      <QueryView query={useQuery(homeQuery)} lines={8}>
        {(home) => (
          <>
            <Notices home={home} />
            <FirstSteps nextStep={home.nextStep} />
            <BalancePanel home={home} />
            <UsagePanel home={home} />
            <LatestRequests />
          </>
        )}
      </QueryView>
    </Page>
  )
}
