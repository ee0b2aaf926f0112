// Asks for the password inside a dialog, for actions that need it each time.
import { useTranslation } from 'react-i18next'
import { Form } from '../../ui/form/Form.tsx'
import { PasswordField } from '../../ui/form/PasswordField.tsx'
import { useForm } from '../../ui/form/use-form.ts'

export function PasswordStep(props: {
  readonly submit: string
  readonly tone?: 'main' | 'danger'
  readonly send: (password: string) => Promise<void>
}) {
  const { submit, tone = 'main', send } = props
  const { t } = useTranslation()
  const form = useForm({
    initial: { password: '' },
    errorFields: { password_wrong: 'password' },
    check: ({ password }) => ({ password: password === '' ? t('field.required') : undefined }),
    send: ({ password }) => send(password),
  })
  return (
    <Form form={form} submit={submit} tone={tone} isWide>
      <PasswordField {...form.text('password')} label={t('signIn.password')} />
    </Form>
  )
}
