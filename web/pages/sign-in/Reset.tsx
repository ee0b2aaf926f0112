// A new password, with the code of a letter. Every session ends with it, so one signs in next.
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { codeInAddress, dropCode } from '../../account/code.ts'
import { GuestSheet } from '../../frame/GuestFrame.tsx'
import { paths } from '../../paths.ts'
import { call, isNo } from '../../runtime/api.ts'
import { ButtonLink } from '../../ui/Button.tsx'
import { Form } from '../../ui/form/Form.tsx'
import { useForm } from '../../ui/form/form.ts'
import { PASSWORD_LENGTH_MIN, PasswordField } from '../../ui/form/PasswordField.tsx'
import { useToast } from '../../ui/Toasts.tsx'

export function Reset() {
  const { t } = useTranslation()
  const [code] = useState(codeInAddress)
  const [isSpent, setSpent] = useState(false)
  if (code !== undefined && !isSpent) {
    return (
      <GuestSheet title={t('reset.title')} lead={t('reset.text')}>
        <ResetForm code={code} onSpent={() => setSpent(true)} />
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

function ResetForm(props: { readonly code: string; readonly onSpent: () => void }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const toast = useToast()
  const form = useForm({
    start: { newPassword: '' },
    blame: {
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
        if (isNo(error, 'code_wrong')) return props.onSpent()
        throw error
      }
      dropCode()
      toast(t('reset.done'))
      await navigate({ to: paths.signIn })
    },
  })
  return (
    <Form form={form} submit={t('reset.submit')} isWide>
      <PasswordField {...form.text('newPassword')} label={t('reset.password')} isNew />
    </Form>
  )
}
