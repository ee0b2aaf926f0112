// "Look into your mail": where the letter went, and another one when it does not come.
import { useMutation } from '@tanstack/react-query'
import { useRouterState } from '@tanstack/react-router'
import { MailOpen } from 'lucide-react'
import { useState } from 'react'
import { Trans, useTranslation } from 'react-i18next'
import { useCountdown } from '../../account/letter.ts'
import { useFormat } from '../../format/format.ts'
import { GuestSheet } from '../../frame/GuestFrame.tsx'
import { paths } from '../../paths.ts'
import { call } from '../../runtime/api.ts'
import { Button } from '../../ui/Button.tsx'
import { EmailField, looksLikeEmail } from '../../ui/form/EmailField.tsx'
import { Form } from '../../ui/form/Form.tsx'
import { useForm } from '../../ui/form/form.ts'
import { TextLink } from '../../ui/TextLink.tsx'
import { useErrorToast, useToast } from '../../ui/Toasts.tsx'

export function Mail() {
  const arrived = useRouterState({ select: ({ location }) => location.state.email })
  const [email, setEmail] = useState(arrived)
  return email === undefined ? <Whose onKnown={setEmail} /> : <Sent email={email} />
}

function Sent({ email }: { readonly email: string }) {
  const { t } = useTranslation()
  const format = useFormat()
  const countdown = useCountdown()
  const toast = useToast()
  const showError = useErrorToast()
  const again = useMutation({
    mutationFn: () => call('POST /api/auth/register/again', { body: { email } }),
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
        isPending={again.isPending}
        onClick={() => again.mutate()}
      >
        {isWaiting
          ? t('mail.againIn', { time: format.countdown(countdown.left) })
          : t('mail.again')}
      </Button>
    </GuestSheet>
  )
}

/** Opened without having registered just now: whose letter is it about? */
function Whose({ onKnown }: { readonly onKnown: (email: string) => void }) {
  const { t } = useTranslation()
  const form = useForm({
    start: { email: '' },
    blame: { email_wrong: 'email' },
    check: ({ email }) => ({ email: looksLikeEmail(email) ? undefined : t('field.email') }),
    async send({ email }) {
      await call('POST /api/auth/register/again', { body: { email: email.trim() } })
      onKnown(email.trim())
    },
  })
  return (
    <GuestSheet title={t('mail.againTitle')} lead={t('mail.againText')}>
      <Form form={form} submit={t('mail.again')} isWide>
        <EmailField {...form.text('email')} label={t('signIn.email')} />
      </Form>
    </GuestSheet>
  )
}
