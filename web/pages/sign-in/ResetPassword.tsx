// Sets a new password with the code from an e-mail. The server ends every session, so the sign-in
// page comes next, and then the review of passkeys and keys.
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { codeInHash, removeCodeFromHash } from '../../account/hash-code.ts'
import { GuestSheet } from '../../frame/GuestFrame.tsx'
import { paths } from '../../paths.ts'
import { call, isApiRefusal } from '../../runtime/api.ts'
import { ButtonLink } from '../../ui/Button.tsx'
import { Form } from '../../ui/form/Form.tsx'
import { PASSWORD_LENGTH_MIN, PasswordField } from '../../ui/form/PasswordField.tsx'
import { useForm } from '../../ui/form/use-form.ts'
import { useToast } from '../../ui/Toasts.tsx'

export function ResetPassword() {
  const { t } = useTranslation()
  const [code] = useState(codeInHash)
  const [isCodeUsed, setCodeUsed] = useState(false)
  if (code !== undefined && !isCodeUsed) {
    return (
      <GuestSheet title={t('reset.title')} lead={t('reset.text')}>
        <ResetForm code={code} onCodeUsed={() => setCodeUsed(true)} />
      </GuestSheet>
    )
  }
  return (
    <GuestSheet title={t('reset.spentTitle')} lead={t('reset.spentText')}>
      <ButtonLink to={paths.forgot} tone="main">
        {t('reset.again')}
      </ButtonLink>
    </GuestSheet>
  )
}

function ResetForm(props: { readonly code: string; readonly onCodeUsed: () => void }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const toast = useToast()
  const form = useForm({
    initial: { newPassword: '' },
    errorFields: {
      password_too_short: 'newPassword',
      password_too_long: 'newPassword',
      password_common: 'newPassword',
    },
    check: ({ newPassword }) => ({
      newPassword:
        [...newPassword].length < PASSWORD_LENGTH_MIN ? t('errors.password_too_short') : undefined,
    }),
    async send({ newPassword }) {
      try {
        await call('POST /api/auth/reset-password', { body: { code: props.code, newPassword } })
      } catch (error) {
        if (isApiRefusal(error, 'code_wrong')) return props.onCodeUsed()
        throw error
      }
      removeCodeFromHash()
      toast(t('reset.done'))
      await navigate({ to: paths.signIn, search: { next: paths.review } })
    },
  })
  return (
    <Form form={form} submit={t('reset.submit')} isWide>
      <PasswordField {...form.text('newPassword')} label={t('reset.password')} isNew />
    </Form>
  )
}
