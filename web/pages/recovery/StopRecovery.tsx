// Stops a recovery with the code of a warning, without signing in. After it was completed, the code
// takes it back.
import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { call } from '../../runtime/api.ts'
import { meQuery } from '../../runtime/queries.ts'
import { LinkSheet } from './LinkSheet.tsx'

export function StopRecovery() {
  const { t } = useTranslation()
  const client = useQueryClient()
  return (
    <LinkSheet
      title={t('stopRecovery.title')}
      text={t('stopRecovery.text')}
      submit={t('stopRecovery.submit')}
      send={async (code) => {
        const answer = await call('POST /api/auth/recovery/stop', { body: { code } })
        await client.invalidateQueries({ queryKey: meQuery.queryKey })
        return answer
      }}
      done={({ status }) =>
        status === 'stopped'
          ? { title: t('stopRecovery.doneTitle'), text: t('stopRecovery.doneText') }
          : { title: t('stopRecovery.takenTitle'), text: t('stopRecovery.takenText') }
      }
    />
  )
}
