// The security settings: password, second factor, passkeys and sessions.
import { useTranslation } from 'react-i18next'
import { PasskeysPanel } from '../../account/PasskeysPanel.tsx'
import { PasswordPanel } from '../../account/PasswordPanel.tsx'
import { SessionsPanel } from '../../account/SessionsPanel.tsx'
import { SettingsTabs } from '../../account/SettingsTabs.tsx'
import { SecondFactor } from '../../account/second-factor/SecondFactor.tsx'
import { Page } from '../../ui/Page.tsx'
import { Column, Columns } from '../../ui/parts.tsx'

export function Security() {
  const { t } = useTranslation()
  return (
    <Page title={t('nav.settings')}>
      <SettingsTabs />
      <Columns>
        <Column>
          <PasswordPanel />
          <SecondFactor />
        </Column>
        <Column>
          <PasskeysPanel />
          <SessionsPanel />
        </Column>
      </Columns>
    </Page>
  )
}
