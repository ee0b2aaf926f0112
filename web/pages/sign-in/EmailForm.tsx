// A form with one field, the e-mail address; `send` gets the address without spaces around it.
import { useTranslation } from 'react-i18next'
import { EmailField, looksLikeEmail } from '../../ui/form/EmailField.tsx'
import { Form } from '../../ui/form/Form.tsx'
import { useForm } from '../../ui/form/use-form.ts'

type Props = {
  readonly submit: string
  readonly send: (email: string) => Promise<unknown>
  readonly onSent: (email: string) => void
}

export function EmailForm({ submit, send, onSent }: Props) {
  const { t } = useTranslation()
  const form = useForm({
    initial: { email: '' },
    errorFields: { email_wrong: 'email' },
    check: ({ email }) => ({ email: looksLikeEmail(email) ? undefined : t('field.email') }),
    async send({ email }) {
      await send(email.trim())
      onSent(email.trim())
    },
  })
  return (
    <Form form={form} submit={submit} isWide>
      <EmailField {...form.text('email')} label={t('signIn.email')} />
    </Form>
  )
}
