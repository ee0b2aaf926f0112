// Confirming an address: the letter's code together with the password chosen at registration, so
// that nobody gains an account by registering somebody else's address.
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { codeInAddress, dropCode } from '../../account/code.ts'
import { GuestSheet } from '../../frame/GuestFrame.tsx'
import { paths } from '../../paths.ts'
import { call, isNo } from '../../runtime/api.ts'
import { useSignedIn } from '../../runtime/session.ts'
import { ButtonLink } from '../../ui/Button.tsx'
import { Form } from '../../ui/form/Form.tsx'
import { useForm } from '../../ui/form/form.ts'
import { PasswordField } from '../../ui/form/PasswordField.tsx'

export function Confirm() {
  const [code] = useState(codeInAddress)
  const [isSpent, setSpent] = useState(false)
  if (code === undefined || isSpent) return <Spent />
  return <ConfirmForm code={code} onSpent={() => setSpent(true)} />
}

function ConfirmForm(props: { readonly code: string; readonly onSpent: () => void }) {
  const { t } = useTranslation()
  const signedIn = useSignedIn()
  const form = useForm({
    start: { password: '' },
    blame: { password_wrong: 'password' },
    check: ({ password }) => ({ password: password === '' ? t('field.required') : undefined }),
    async send({ password }) {
      try {
        await call('POST /api/auth/confirm', { body: { code: props.code, password } })
      } catch (error) {
        if (isNo(error, 'code_wrong')) return props.onSpent()
        throw error
      }
      dropCode()
      await signedIn()
    },
  })
  return (
    <GuestSheet title={t('confirm.title')} lead={t('confirm.text')}>
      <Form form={form} submit={t('confirm.submit')} isWide>
        <PasswordField {...form.text('password')} label={t('confirm.password')} />
      </Form>
    </GuestSheet>
  )
}

/** Mostly links that were used already: then signing in is all that is left to do. */
function Spent() {
  const { t } = useTranslation()
  return (
    <GuestSheet title={t('confirm.spentTitle')} lead={t('confirm.spentText')}>
      <div className="grid gap-3">
        <ButtonLink to={paths.signIn} tone="main">
          {t('signIn.submit')}
        </ButtonLink>
        <ButtonLink to={paths.mail}>{t('mail.again')}</ButtonLink>
      </div>
    </GuestSheet>
  )
}
