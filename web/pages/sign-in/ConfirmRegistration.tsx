// Confirms a registration: the code from the e-mail, in the browser that registered. Every other
// browser needs the password chosen at registration too, so that registering somebody else's
// address gains nothing.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { codeInHash, removeCodeFromHash } from '../../account/hash-code.ts'
import { GuestSheet } from '../../frame/GuestFrame.tsx'
import { paths } from '../../paths.ts'
import { call, isApiRefusal } from '../../runtime/api.ts'
import { useFinishSignIn } from '../../runtime/session.ts'
import { ButtonLink } from '../../ui/Button.tsx'
import { Form } from '../../ui/form/Form.tsx'
import { PasswordField } from '../../ui/form/PasswordField.tsx'
import { useForm } from '../../ui/form/use-form.ts'
import { Skeleton } from '../../ui/parts.tsx'

export function ConfirmRegistration() {
  const [code] = useState(codeInHash)
  const [isCodeUsed, setCodeUsed] = useState(false)
  if (code === undefined || isCodeUsed) return <CodeUsed />
  return <Confirm code={code} onCodeUsed={() => setCodeUsed(true)} />
}

/** Tries without the password first. A query, because the code may be sent only once. */
function Confirm(props: { readonly code: string; readonly onCodeUsed: () => void }) {
  const { code } = props
  const { t } = useTranslation()
  const finishSignIn = useFinishSignIn()
  const first = useQuery({
    queryKey: ['confirm', code],
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
    async queryFn() {
      await call('POST /api/auth/confirm', { body: { code } })
      removeCodeFromHash()
      await finishSignIn()
      return true
    },
  })
  if (isApiRefusal(first.error, 'code_wrong')) return <CodeUsed />
  if (first.isError) return <ConfirmForm {...props} />
  return (
    <GuestSheet title={t('confirm.title')}>
      <Skeleton lines={3} />
    </GuestSheet>
  )
}

function ConfirmForm(props: { readonly code: string; readonly onCodeUsed: () => void }) {
  const { t } = useTranslation()
  const finishSignIn = useFinishSignIn()
  const form = useForm({
    initial: { password: '' },
    errorFields: { password_wrong: 'password' },
    check: ({ password }) => ({ password: password === '' ? t('field.required') : undefined }),
    async send({ password }) {
      try {
        await call('POST /api/auth/confirm', { body: { code: props.code, password } })
      } catch (error) {
        if (isApiRefusal(error, 'code_wrong')) return props.onCodeUsed()
        throw error
      }
      removeCodeFromHash()
      await finishSignIn()
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

/** Most of these links were already used: then the owner only needs to sign in. */
function CodeUsed() {
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
