// Completes a recovery of the mailbox after its wait: the account gets the new address.
import { useTranslation } from 'react-i18next'
import { call } from '../../runtime/api.ts'
import { LinkSheet } from './LinkSheet.tsx'

export function FinishRecovery() {
  const { t } = useTranslation()
  return (
    <LinkSheet
      title={t('finishRecovery.title')}
      text={t('finishRecovery.text')}
      submit={t('finishRecovery.submit')}
      send={(code) => call('POST /api/auth/recovery/finish', { body: { code } })}
      done={() => ({ title: t('finishRecovery.doneTitle'), text: t('finishRecovery.doneText') })}
    />
  )
}
