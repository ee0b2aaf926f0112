// One's own sign-in: passkeys, the authenticator app with its recovery codes, the password, and the
// open sessions. Adding a factor needs one that was proven in the last ten minutes.
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { Page } from '../../ui/Page.tsx'
import { QueryView } from '../../ui/QueryView.tsx'
import { ownQuery } from '../queries.ts'
import { AppPanel } from './AppPanel.tsx'
import { PasskeysPanel } from './PasskeysPanel.tsx'
import { PasswordPanel } from './PasswordPanel.tsx'
import { ProofDialog, useProof } from './Proof.tsx'
import { SessionsPanel } from './SessionsPanel.tsx'

export function Own() {
  const { t } = useTranslation()
  const proof = useProof()
  return (
    <Page title={t('console.own.title')} lead={t('console.own.lead')} isNarrow>
      <QueryView query={useQuery(ownQuery)} lines={10}>
        {(own) => (
          <>
            <PasskeysPanel passkeys={own.passkeys} withProof={proof.withProof} />
            <AppPanel own={own} withProof={proof.withProof} />
            <PasswordPanel />
            <SessionsPanel sessions={own.sessions} />
            <ProofDialog proof={proof} hasApp={own.hasApp} />
          </>
        )}
      </QueryView>
    </Page>
  )
}
