// A forgotten password: requests an e-mail with a link. The answer is the same whether or not the
// address has an account.
import { useState } from 'react'
import { Trans, useTranslation } from 'react-i18next'
import { GuestSheet } from '../../frame/GuestFrame.tsx'
import { paths } from '../../paths.ts'
import { call } from '../../runtime/api.ts'
import { TextLink } from '../../ui/TextLink.tsx'
import { EmailForm } from './EmailForm.tsx'

const requestReset = (email: string) =>
  call('POST /api/auth/request-password-reset', { body: { email } })

export function ForgotPassword() {
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
        <EmailForm submit={t('forgot.submit')} send={requestReset} onSent={setSentTo} />
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
