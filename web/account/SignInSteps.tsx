// The steps of a sign-in: password or passkey, then the second factor if the account has one. The
// sign-in page and the dialog "confirm it is you" use them.
import { Fingerprint } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { paths } from '../paths.ts'
import { call } from '../runtime/api.ts'
import { isSharedDevice, rememberDevice } from '../runtime/session.ts'
import { Button } from '../ui/Button.tsx'
import { EmailField, looksLikeEmail } from '../ui/form/EmailField.tsx'
import { CheckField } from '../ui/form/Field.tsx'
import { Form } from '../ui/form/Form.tsx'
import { PasswordField } from '../ui/form/PasswordField.tsx'
import { useForm } from '../ui/form/use-form.ts'
import { TextLink } from '../ui/TextLink.tsx'
import { useErrorToast } from '../ui/Toasts.tsx'
import { hasPasskeys, signInByPasskey } from './passkey.ts'
import { SecondFactorStep } from './SecondFactorStep.tsx'

export function SignInSteps(props: {
  /** Given when a signed-in owner only confirms who they are. */
  readonly email?: string
  readonly onSignedIn: () => void
}) {
  const { email, onSignedIn } = props
  const { t } = useTranslation()
  const [step, setStep] = useState<'password' | 'second'>('password')
  if (step === 'second') {
    return <SecondFactorStep onSignedIn={onSignedIn} onExpired={() => setStep('password')} />
  }
  return (
    <div className="grid gap-6">
      <PasswordStep
        {...(email === undefined ? {} : { email })}
        onSignedIn={onSignedIn}
        onSecond={() => setStep('second')}
      />
      {hasPasskeys() && (
        <PasskeyStep
          label={t(email === undefined ? 'signIn.passkey' : 'fresh.passkey')}
          onSignedIn={onSignedIn}
        />
      )}
    </div>
  )
}

function PasswordStep(props: {
  readonly email?: string
  readonly onSignedIn: () => void
  readonly onSecond: () => void
}) {
  const { t } = useTranslation()
  const { email: known, onSignedIn, onSecond } = props
  const form = useForm({
    initial: { email: known ?? '', password: '', isPrivate: !isSharedDevice() },
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
    <Form form={form} submit={t(known === undefined ? 'signIn.submit' : 'fresh.submit')} isWide>
      <EmailField
        {...form.text('email')}
        label={t('signIn.email')}
        autoComplete="username"
        // Read-only instead of absent: password managers look for it beside the password.
        readOnly={known !== undefined}
      />
      <div className="grid gap-1.5">
        <PasswordField
          {...form.text('password')}
          label={t('signIn.password')}
          autoFocus={known !== undefined}
        />
        {known === undefined && (
          <TextLink to={paths.forgot} className="justify-self-start py-1 text-sm">
            {t('signIn.forgot')}
          </TextLink>
        )}
      </div>
      {known === undefined && (
        <CheckField {...form.box('isPrivate')} hint={t('signIn.privateHint')}>
          {t('signIn.private')}
        </CheckField>
      )}
    </Form>
  )
}

function PasskeyStep(props: { readonly label: string; readonly onSignedIn: () => void }) {
  const { t } = useTranslation()
  const { label, onSignedIn } = props
  const [isPending, setPending] = useState(false)
  const showError = useErrorToast()
  async function signIn(): Promise<void> {
    setPending(true)
    try {
      await signInByPasskey()
      onSignedIn()
    } catch (error) {
      showError(error)
    } finally {
      setPending(false)
    }
  }
  return (
    <div className="grid gap-5">
      <p
        className="flex items-center gap-3 text-sm text-soft before:h-px before:flex-1
        before:bg-line after:h-px after:flex-1 after:bg-line"
      >
        {t('signIn.or')}
      </p>
      <Button icon={Fingerprint} isWide isPending={isPending} onClick={() => void signIn()}>
        {label}
      </Button>
    </div>
  )
}
