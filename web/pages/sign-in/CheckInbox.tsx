// "Check your inbox": the address the e-mail went to, and a button that sends it again.
import { useMutation } from '@tanstack/react-query'
import { useRouterState } from '@tanstack/react-router'
import { MailOpen } from 'lucide-react'
import { useState } from 'react'
import { Trans, useTranslation } from 'react-i18next'
import { useResendCountdown } from '../../account/resend-countdown.ts'
import { useFormat } from '../../format/use-format.ts'
import { GuestSheet } from '../../frame/GuestFrame.tsx'
import { paths } from '../../paths.ts'
import { call } from '../../runtime/api.ts'
import { Button } from '../../ui/Button.tsx'
import { TextLink } from '../../ui/TextLink.tsx'
import { useErrorToast, useToast } from '../../ui/Toasts.tsx'
import { EmailForm } from './EmailForm.tsx'

const sendAgain = (email: string) => call('POST /api/auth/register/again', { body: { email } })

export function CheckInbox() {
  const registeredEmail = useRouterState({ select: ({ location }) => location.state.email })
  const [email, setEmail] = useState(registeredEmail)
  const { t } = useTranslation()
  if (email !== undefined) return <SentTo email={email} />
  // The page was opened without signing up before it: ask for the address.
  return (
    <GuestSheet title={t('mail.againTitle')} lead={t('mail.againText')}>
      <EmailForm submit={t('mail.again')} send={sendAgain} onSent={setEmail} />
    </GuestSheet>
  )
}

function SentTo({ email }: { readonly email: string }) {
  const { t } = useTranslation()
  const format = useFormat()
  const countdown = useResendCountdown()
  const toast = useToast()
  const showError = useErrorToast()
  const resend = useMutation({
    mutationFn: () => sendAgain(email),
    onSuccess: () => {
      countdown.restart()
      toast(t('mail.sentAgain'))
    },
    onError: showError,
  })
  const isWaiting = countdown.left > 0
  return (
    <GuestSheet
      title={t('mail.title')}
      lead={
        <p>
          <Trans
            i18nKey="mail.text"
            values={{ email }}
            components={{ b: <strong className="wrap-anywhere text-ink" /> }}
          />
        </p>
      }
      below={
        <p>
          {t('mail.wrong')}{' '}
          <TextLink to={paths.register} className="inline-block py-1">
            {t('mail.register')}
          </TextLink>
        </p>
      }
    >
      <div className="flex gap-3 rounded-box bg-sunk p-4">
        <MailOpen aria-hidden className="mt-0.5 size-5 shrink-0 text-soft" />
        <p>{t('mail.hint')}</p>
      </div>
      <Button
        isWide
        disabled={isWaiting}
        isPending={resend.isPending}
        onClick={() => resend.mutate()}
      >
        {isWaiting
          ? t('mail.againIn', { time: format.countdown(countdown.left) })
          : t('mail.again')}
      </Button>
    </GuestSheet>
  )
}
