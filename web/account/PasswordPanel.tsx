// Changes the password; the old one is required, and the second factor if there is one. The
// server ends all other sessions.
import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { call } from '../runtime/api.ts'
import { meQuery, sessionsQuery } from '../runtime/queries.ts'
import { useMe } from '../runtime/session.ts'
import { Form } from '../ui/form/Form.tsx'
import { PASSWORD_LENGTH_MIN, PasswordField } from '../ui/form/PasswordField.tsx'
import { useForm } from '../ui/form/use-form.ts'
import { Panel } from '../ui/parts.tsx'
import { useToast } from '../ui/Toasts.tsx'
import { useStepUp } from './StepUp.tsx'

export function PasswordPanel() {
  const { t } = useTranslation()
  const { email } = useMe()
  const client = useQueryClient()
  const toast = useToast()
  const withStepUp = useStepUp()
  const form = useForm({
    initial: { currentPassword: '', newPassword: '' },
    errorFields: {
      password_wrong: 'currentPassword',
      password_too_short: 'newPassword',
      password_too_long: 'newPassword',
      password_common: 'newPassword',
    },
    check: ({ currentPassword, newPassword }) => ({
      currentPassword: currentPassword === '' ? t('field.required') : undefined,
      newPassword:
        [...newPassword].length < PASSWORD_LENGTH_MIN ? t('errors.password_too_short') : undefined,
    }),
    async send(body) {
      await withStepUp(() => call('POST /api/auth/change-password', { body }))
      form.set('currentPassword', '')
      form.set('newPassword', '')
      toast(t('security.passwordChanged'))
      await client.invalidateQueries({ queryKey: meQuery.queryKey })
      await client.invalidateQueries({ queryKey: sessionsQuery.queryKey })
    },
  })
  return (
    <Panel title={t('security.password')} hint={t('security.passwordHint')}>
      <Form form={form} submit={t('security.passwordSubmit')} tone="plain">
        {/* Tells password managers which account the password belongs to. */}
        <input type="text" name="username" autoComplete="username" value={email} readOnly hidden />
        <PasswordField {...form.text('currentPassword')} label={t('security.passwordNow')} />
        <PasswordField {...form.text('newPassword')} label={t('security.passwordNew')} isNew />
      </Form>
    </Panel>
  )
}
