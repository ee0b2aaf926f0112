// Limits and letters: whether requests are served, what they may cost, when to write, and what to
// buy by itself. Letters about a stop lead here; nothing happens before a button is pressed.
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { SettingsTabs } from '../account/SettingsTabs.tsx'
import { guardsAsk } from '../asks.ts'
import { Asked } from '../ui/Asked.tsx'
import { Page } from '../ui/Page.tsx'
import { LettersForm } from './limits/LettersForm.tsx'
import { LimitsForm } from './limits/LimitsForm.tsx'
import { PausePanel } from './limits/PausePanel.tsx'
import { TopUpPanel } from './limits/TopUpPanel.tsx'

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
