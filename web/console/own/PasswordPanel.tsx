// Changes one's own password; the present one is asked for, and all other sessions end.
import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { Form } from '../../ui/form/Form.tsx'
import { PASSWORD_LENGTH_MIN, PasswordField } from '../../ui/form/PasswordField.tsx'
import { useForm } from '../../ui/form/use-form.ts'
import { Panel } from '../../ui/parts.tsx'
import { useToast } from '../../ui/Toasts.tsx'
import { call } from '../call.ts'
import { ownQuery } from '../queries.ts'
import { useMe } from '../use-me.ts'

export function PasswordPanel() {
  const { t } = useTranslation()
  const me = useMe()
  const client = useQueryClient()
  const toast = useToast()
  const form = useForm({
    initial: { present: '', next: '' },
    errorFields: { sign_in_wrong: 'present' },
    check: ({ present, next }) => ({
      present: present === '' ? t('field.required') : undefined,
      next: [...next].length < PASSWORD_LENGTH_MIN ? t('console.enrol.short') : undefined,
    }),
    async send(body) {
      await call('POST /api/own/password', { body })
      form.set('present', '')
      form.set('next', '')
      toast(t('console.own.changed'))
      await client.invalidateQueries({ queryKey: ownQuery.queryKey })
    },
  })
  return (
    <Panel title={t('console.own.password')} hint={t('console.own.passwordHint')}>
      <Form form={form} submit={t('console.own.change')} tone="plain">
        {/* Tells password managers which account the password belongs to. */}
        <input
          type="text"
          name="username"
          autoComplete="username"
          value={me?.email ?? ''}
          readOnly
          hidden
        />
        <PasswordField {...form.text('present')} label={t('console.own.present')} />
        <PasswordField {...form.text('next')} label={t('console.own.next')} isNew />
      </Form>
    </Panel>
  )
}
