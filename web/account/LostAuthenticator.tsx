// Instead of a code, for an owner who has lost the app and the recovery codes: e-mails a link.
import { useMutation } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { call, isApiRefusal } from '../runtime/api.ts'
import { useErrorText } from '../runtime/errors.ts'
import { Banner } from '../ui/Banner.tsx'
import { Button } from '../ui/Button.tsx'

export function LostAuthenticator(props: {
  readonly onBack: () => void
  /** Too much time has passed since the password step. */
  readonly onExpired: () => void
}) {
  const { t } = useTranslation()
  const errorText = useErrorText()
  const ask = useMutation({
    mutationFn: () => call('POST /api/auth/recovery/ask'),
    onError(error) {
      if (isApiRefusal(error, 'sign_in_expired')) props.onExpired()
    },
  })
  return (
    <div className="grid gap-5">
      <h2 className="text-lg font-semibold">{t('lostFactor.title')}</h2>
      <p className="text-soft">{t('lostFactor.text')}</p>
      <div role="status" className="grid empty:hidden">
        {ask.isSuccess && <Banner tone="good">{t('lostFactor.sent')}</Banner>}
        {ask.isError && <Banner tone="bad">{errorText(ask.error)}</Banner>}
      </div>
      {!ask.isSuccess && (
        <Button tone="main" isWide isPending={ask.isPending} onClick={() => ask.mutate()}>
          {t('lostFactor.send')}
        </Button>
      )}
      <Button tone="quiet" onClick={props.onBack}>
        {t('lostFactor.back')}
      </Button>
    </div>
  )
}
