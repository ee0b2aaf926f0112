// Limits and letters: whether requests are served, what they may cost, when to write, and what to
// buy by itself. Letters about a stop lead here; nothing happens before a button is pressed.
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { SettingsTabs } from '../../account/SettingsTabs.tsx'
import { guardsAsk } from '../../runtime/asks.ts'
import { Asked } from '../../ui/Asked.tsx'
import { Page } from '../../ui/Page.tsx'
import { LettersForm } from './LettersForm.tsx'
import { LimitsForm } from './LimitsForm.tsx'
import { PausePanel } from './PausePanel.tsx'
import { TopUpPanel } from './TopUpPanel.tsx'

export function Limits() {
  const { t } = useTranslation()
  return (
    <Page title={t('nav.settings')} isNarrow>
      <SettingsTabs />
      <Asked query={useQuery(guardsAsk)} lines={8}>
        {(guards) => (
          <>
            <PausePanel guards={guards} />
            <LimitsForm guards={guards} />
            <LettersForm guards={guards} />
          </>
        )}
      </Asked>
      <TopUpPanel />
    </Page>
  )
}
