// The limits page: pause, spending limits, e-mail alerts and automatic top-up. E-mails about a stop
// link here; nothing changes before the owner clicks a button.
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { SettingsTabs } from '../../account/SettingsTabs.tsx'
import { guardsQuery } from '../../runtime/queries.ts'
import { Page } from '../../ui/Page.tsx'
import { Column, Columns, PanelSkeletons } from '../../ui/parts.tsx'
import { QueryView } from '../../ui/QueryView.tsx'
import { EmailAlertsForm } from './EmailAlertsForm.tsx'
import { LimitsForm } from './LimitsForm.tsx'
import { PausePanel } from './PausePanel.tsx'
import { TopUpPanel } from './TopUpPanel.tsx'

export function Limits() {
  const { t } = useTranslation()
  return (
    <Page title={t('nav.settings')}>
      <SettingsTabs />
      <QueryView query={useQuery(guardsQuery)} skeleton={<LimitsSkeleton />}>
        {(guards) => (
          <Columns>
            <Column>
              <PausePanel guards={guards} />
              <LimitsForm guards={guards} />
            </Column>
            <Column>
              <EmailAlertsForm guards={guards} />
              <TopUpPanel />
            </Column>
          </Columns>
        )}
      </QueryView>
    </Page>
  )
}

function LimitsSkeleton() {
  return (
    <Columns>
      <Column>
        <PanelSkeletons lines={[4, 8]} />
      </Column>
      <Column>
        <PanelSkeletons lines={[6, 3]} />
      </Column>
    </Columns>
  )
}
