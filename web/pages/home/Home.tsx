// The overview: notices, first steps, balance, usage and the latest requests. Live updates write
// into the same queries, so the page changes without a reload.
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { homeQuery } from '../../runtime/queries.ts'
import { useMe } from '../../runtime/session.ts'
import { Page } from '../../ui/Page.tsx'
import { PanelSkeletons } from '../../ui/parts.tsx'
import { QueryView } from '../../ui/QueryView.tsx'
import { BalancePanel } from './BalancePanel.tsx'
import { FirstSteps } from './FirstSteps.tsx'
import { LatestRequests } from './LatestRequests.tsx'
import { Notices } from './Notices.tsx'
import { UsagePanel } from './UsagePanel.tsx'

const FIGURES = 'grid min-w-0 gap-6 2xl:grid-cols-[minmax(0,5fr)_minmax(0,7fr)]'

export function Home() {
  const { t } = useTranslation()
  const { isClosing } = useMe()
  return (
    <Page title={t('home.title')}>
      <QueryView query={useQuery(homeQuery)} skeleton={<HomeSkeleton />}>
        {(home) => (
          <>
            {/* Nothing that they lead to is possible while the account closes. */}
            {!isClosing && (
              <>
                <Notices home={home} />
                <FirstSteps nextStep={home.nextStep} trial={home.trial} />
              </>
            )}
            <div className={FIGURES}>
              <BalancePanel home={home} />
              <UsagePanel home={home} />
            </div>
            <LatestRequests />
          </>
        )}
      </QueryView>
    </Page>
  )
}

function HomeSkeleton() {
  return (
    <>
      <div className={FIGURES}>
        <PanelSkeletons lines={[5, 7]} />
      </div>
      <PanelSkeletons lines={[8]} />
    </>
  )
}
