// Signing in: password and then the code of the app, or a passkey alone.
import { useQueryClient } from '@tanstack/react-query'
import { useRouter, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { PasskeyButton } from '../../account/PasskeyButton.tsx'
import { SecondFactorStep } from '../../account/SecondFactorStep.tsx'
import { hasPasskeys } from '../../runtime/webauthn.ts'
import { EmailField, looksLikeEmail } from '../../ui/form/EmailField.tsx'
import { Form } from '../../ui/form/Form.tsx'
import { PasswordField } from '../../ui/form/PasswordField.tsx'
import { useForm } from '../../ui/form/use-form.ts'
import { call, isRefused } from '../call.ts'
import { paths } from '../paths.ts'
import { meQuery } from '../queries.ts'
import { GuestSheet } from './GuestSheet.tsx'
import { ProviderButton } from './ProviderButton.tsx'
import { signInByPasskey } from './passkey.ts'

export function SignIn() {
  const { t } = useTranslation()
  const client = useQueryClient()
  const router = useRouter()
  const { next } = useSearch({ from: paths.signIn })
  const [step, setStep] = useState<'password' | 'code'>('password')

  async function enter(): Promise<void> {
    await client.fetchQuery({ ...meQuery, staleTime: 0 })
    router.history.replace(next ?? paths.today)
  }

  async function sendCode(_way: string, code: string): Promise<void> {
    try {
      await call('POST /api/sign-in/code', { body: { code } })
    } catch (error) {
      // Too much time has passed since the password: it must be typed again.
      if (isRefused(error, 'operator_session_missing')) setStep('password')
      throw error
    }
  }

  if (step === 'code') {
    return (
      <GuestSheet title={t('console.signIn.codeTitle')}>
        <SecondFactorStep send={sendCode} onDone={() => void enter()} />
      </GuestSheet>
    )
  }
  return (
    <GuestSheet title={t('console.signIn.title')} lead={t('console.signIn.lead')}>
      <div className="grid gap-6">
        <PasswordStep onCode={() => setStep('code')} />
        {hasPasskeys() && (
          <PasskeyButton
            label={t('console.signIn.passkey')}
            send={signInByPasskey}
            onDone={() => void enter()}
          />
        )}
        <ProviderButton />
      </div>
    </GuestSheet>
  )
}

function PasswordStep({ onCode }: { readonly onCode: () => void }) {
  const { t } = useTranslation()
  const form = useForm({
    initial: { email: '', password: '' },
    check: ({ email, password }) => ({
      email: looksLikeEmail(email) ? undefined : t('field.email'),
      password: password === '' ? t('field.required') : undefined,
    }),
    async send({ email, password }) {
      await call('POST /api/sign-in', { body: { email: email.trim(), password } })
      onCode()
    },
  })
  return (
    <Form form={form} submit={t('console.signIn.submit')} isWide>
      <EmailField {...form.text('email')} label={t('signIn.email')} autoFocus />
      <PasswordField {...form.text('password')} label={t('signIn.password')} />
    </Form>
  )
}
