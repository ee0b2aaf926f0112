// The steps of a sign-in: password or passkey, then the second factor if the account has one. The
// sign-in page and the page that confirms a new e-mail address use them.
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { paths } from '../paths.ts'
import { call, isApiRefusal } from '../runtime/api.ts'
import { useBrowserFact } from '../runtime/browser-fact.ts'
import { isSharedDevice, rememberDevice } from '../runtime/session.ts'
import { hasPasskeys } from '../runtime/webauthn.ts'
import { Button } from '../ui/Button.tsx'
import { EmailField, looksLikeEmail } from '../ui/form/EmailField.tsx'
import { CheckField } from '../ui/form/Field.tsx'
import { Form } from '../ui/form/Form.tsx'
import { PasswordField } from '../ui/form/PasswordField.tsx'
import { useForm } from '../ui/form/use-form.ts'
import { TextLink } from '../ui/TextLink.tsx'
import { LostAuthenticator } from './LostAuthenticator.tsx'
import { PasskeyButton } from './PasskeyButton.tsx'
import { signInByPasskey } from './passkey.ts'
import { type CodeWay, SecondFactorStep } from './SecondFactorStep.tsx'

export function SignInSteps({ onSignedIn }: { readonly onSignedIn: () => void }) {
  const { t } = useTranslation()
  const [step, setStep] = useState<'password' | 'second' | 'lost'>('password')
  const isShared = useBrowserFact(isSharedDevice, false)
  const canUsePasskeys = useBrowserFact(hasPasskeys, false)

  async function sendCode(way: CodeWay, code: string): Promise<void> {
    try {
      if (way === 'app') await call('POST /api/auth/two-factor/verify-totp', { body: { code } })
      else await call('POST /api/auth/two-factor/verify-backup-code', { body: { code } })
    } catch (error) {
      // Too much time has passed since the password step: it must be repeated.
      if (isApiRefusal(error, 'sign_in_expired')) setStep('password')
      throw error
    }
  }

  if (step === 'lost') {
    return (
      <LostAuthenticator onBack={() => setStep('second')} onExpired={() => setStep('password')} />
    )
  }
  if (step === 'second') {
    const lost = (
      <Button tone="quiet" onClick={() => setStep('lost')}>
        {t('lostFactor.open')}
      </Button>
    )
    return <SecondFactorStep send={sendCode} onDone={onSignedIn} lost={lost} />
  }
  return (
    <div className="grid gap-6">
      <PasswordStep
        // Only the browser knows whether the box is ticked at first.
        key={String(isShared)}
        isShared={isShared}
        onSignedIn={onSignedIn}
        onSecond={() => setStep('second')}
      />
      {canUsePasskeys && (
        <PasskeyButton label={t('signIn.passkey')} send={signInByPasskey} onDone={onSignedIn} />
      )}
    </div>
  )
}

function PasswordStep(props: {
  readonly isShared: boolean
  readonly onSignedIn: () => void
  readonly onSecond: () => void
}) {
  const { t } = useTranslation()
  const { isShared, onSignedIn, onSecond } = props
  const form = useForm({
    initial: { email: '', password: '', isPrivate: !isShared },
    check: ({ email, password }) => ({
      email: looksLikeEmail(email) ? undefined : t('field.email'),
      password: password === '' ? t('field.required') : undefined,
    }),
    async send({ email, password, isPrivate }) {
      const body = { email: email.trim(), password, isPrivate }
      const { status } = await call('POST /api/auth/sign-in/email', { body })
      rememberDevice(isPrivate)
      if (status === 'second_factor') onSecond()
      else onSignedIn()
    },
  })
  return (
    <Form form={form} submit={t('signIn.submit')} isWide>
      <EmailField {...form.text('email')} label={t('signIn.email')} autoComplete="username" />
      <div className="grid gap-1.5">
        <PasswordField {...form.text('password')} label={t('signIn.password')} />
        <TextLink to={paths.forgot} className="justify-self-start py-1 text-sm">
          {t('signIn.forgot')}
        </TextLink>
      </div>
      <CheckField {...form.box('isPrivate')} hint={t('signIn.privateHint')}>
        {t('signIn.private')}
      </CheckField>
    </Form>
  )
}
