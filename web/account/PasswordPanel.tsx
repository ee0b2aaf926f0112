// Changing the password: with the old one. The other sessions end.
import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { call } from '../runtime/api.ts'
import { meAsk, sessionsAsk } from '../runtime/asks.ts'
import { useMe } from '../runtime/session.ts'
import { Form } from '../ui/form/Form.tsx'
import { useForm } from '../ui/form/form.ts'
import { PASSWORD_LENGTH_MIN, PasswordField } from '../ui/form/PasswordField.tsx'
import { Panel } from '../ui/parts.tsx'
import { useToast } from '../ui/Toasts.tsx'

export function PasswordPanel() {
  const { t } = useTranslation()
  const { email } = useMe()
  const client = useQueryClient()
  const toast = useToast()
  const form = useForm({
    start: { currentPassword: '', newPassword: '' },
    blame: {
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
      await call('POST /api/auth/change-password', { body })
      form.set('currentPassword', '')
      form.set('newPassword', '')
      toast(t('security.passwordChanged'))
      await client.invalidateQueries({ queryKey: meAsk.queryKey })
      await client.invalidateQueries({ queryKey: sessionsAsk.queryKey })
    },
  })
  return (
    <Panel title={t('security.password')} hint={t('security.passwordHint')}>
      <Form form={form} submit={t('security.passwordSubmit')} tone="plain">
        {/* For password managers: whose password it is. */}
        <input type="text" name="username" autoComplete="username" value={email} readOnly hidden />
        <PasswordField {...form.text('currentPassword')} label={t('security.passwordNow')} />
        <PasswordField {...form.text('newPassword')} label={t('security.passwordNew')} isNew />
      </Form>
    </Panel>
  )
}
