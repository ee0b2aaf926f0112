// A forgotten password: a letter with a link, for whoever asks and whether or not we know them.
import { useState } from 'react'
import { Trans, useTranslation } from 'react-i18next'
import { GuestSheet } from '../../frame/GuestFrame.tsx'
import { paths } from '../../paths.ts'
import { call } from '../../runtime/api.ts'
import { EmailField, looksLikeEmail } from '../../ui/form/EmailField.tsx'
import { Form } from '../../ui/form/Form.tsx'
import { useForm } from '../../ui/form/form.ts'
import { TextLink } from '../../ui/TextLink.tsx'

export function Forgot() {
  const [sentTo, setSentTo] = useState<string>()
  const { t } = useTranslation()
  const back = (
    <TextLink to={paths.signIn} className="inline-block py-1">
      {t('forgot.back')}
    </TextLink>
  )
  if (sentTo === undefined) {
    return (
      <GuestSheet title={t('forgot.title')} lead={t('forgot.text')} below={back}>
        <ForgotForm onSent={setSentTo} />
      </GuestSheet>
    )
  }
  const text = (
    <p>
      <Trans
        i18nKey="forgot.sentText"
        values={{ email: sentTo }}
        components={{ b: <strong className="wrap-anywhere text-ink" /> }}
      />
    </p>
  )
  return <GuestSheet title={t('mail.title')} lead={text} below={back} />
}

function ForgotForm({ onSent }: { readonly onSent: (email: string) => void }) {
  const { t } = useTranslation()
  const form = useForm({
    start: { email: '' },
    blame: { email_wrong: 'email' },
    check: ({ email }) => ({ email: looksLikeEmail(email) ? undefined : t('field.email') }),
    async send({ email }) {
      await call('POST /api/auth/request-password-reset', { body: { email: email.trim() } })
      onSent(email.trim())
    },
  })
  return (
    <Form form={form} submit={t('forgot.submit')} isWide>
      <EmailField {...form.text('email')} label={t('signIn.email')} />
    </Form>
  )
}
