// Confirms the mailbox of a recovery that support has begun; the wait begins.
import { useTranslation } from 'react-i18next'
import { call } from '../../runtime/api.ts'
import { LinkSheet, WaitText } from './LinkSheet.tsx'

export function ConfirmRecovery() {
  const { t } = useTranslation()
  return (
    <LinkSheet
      title={t('confirmRecovery.title')}
      text={t('confirmRecovery.text')}
      submit={t('confirmRecovery.submit')}
      send={(code) => call('POST /api/auth/recovery/confirm', { body: { code } })}
      done={({ ripeAt }) => ({
        title: t('recovery.waitTitle'),
        text: <WaitText ripeAt={ripeAt} />,
      })}
    />
  )
}
