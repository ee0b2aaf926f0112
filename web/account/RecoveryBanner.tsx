// A banner on every page while a recovery of the account waits, with a button that stops it.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../format/use-format.ts'
import { call, isApiRefusal } from '../runtime/api.ts'
import { meQuery } from '../runtime/queries.ts'
import { useMe } from '../runtime/session.ts'
import { Banner } from '../ui/Banner.tsx'
import { Button } from '../ui/Button.tsx'
import { useErrorToast, useToast } from '../ui/Toasts.tsx'

export function RecoveryBanner() {
  const { t } = useTranslation()
  const format = useFormat()
  const client = useQueryClient()
  const toast = useToast()
  const showError = useErrorToast()
  const { recovery } = useMe()
  const stop = useMutation({
    mutationFn: () =>
      call('POST /api/auth/recovery/stop-here').catch((error: unknown) => {
        // Somebody else has stopped it.
        if (!isApiRefusal(error, 'code_wrong')) throw error
      }),
    async onSuccess() {
      await client.invalidateQueries({ queryKey: meQuery.queryKey })
      toast(t('recoveryBanner.done'))
    },
    onError: showError,
  })
  if (recovery === null) return null
  const { lost, newEmail: email } = recovery
  return (
    <div className="mb-6">
      <Banner
        tone="bad"
        title={t('recoveryBanner.title')}
        actions={
          <Button isSmall isPending={stop.isPending} onClick={() => stop.mutate()}>
            {t('recoveryBanner.stop')}
          </Button>
        }
      >
        {t(`recoveryBanner.${lost}`, { email })}{' '}
        {t('recoveryBanner.text', { time: format.moment(recovery.ripeAt) })}
      </Banner>
    </div>
  )
}
