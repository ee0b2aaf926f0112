// The second step of a sign-in: a code from the authenticator app, or a recovery code if the app is
// lost.
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { call, isApiRefusal } from '../runtime/api.ts'
import { Button } from '../ui/Button.tsx'
import { TextField } from '../ui/form/Field.tsx'
import { Form } from '../ui/form/Form.tsx'
import { useForm } from '../ui/form/use-form.ts'

export function SecondFactorStep(props: {
  readonly onSignedIn: () => void
  /** Too much time has passed since the password step: it must be repeated. */
  readonly onExpired: () => void
}) {
  const { t } = useTranslation()
  const [way, setWay] = useState<'app' | 'recovery'>('app')
  const other = way === 'app' ? 'recovery' : 'app'
  return (
    <div className="grid gap-5">
      <p className="text-soft">{t(way === 'app' ? 'second.appText' : 'second.recoveryText')}</p>
      <CodeForm key={way} way={way} {...props} />
      <Button tone="quiet" onClick={() => setWay(other)}>
        {t(other === 'app' ? 'second.useApp' : 'second.useRecovery')}
      </Button>
    </div>
  )
}

function CodeForm(props: {
  readonly way: 'app' | 'recovery'
  readonly onSignedIn: () => void
  readonly onExpired: () => void
}) {
  const { t } = useTranslation()
  const { way, onSignedIn, onExpired } = props
  const isApp = way === 'app'
  const form = useForm({
    initial: { code: '' },
    errorFields: { second_factor_wrong: 'code', body_wrong: 'code' },
    check: ({ code }) => ({ code: code.trim().length < 6 ? t('second.short') : undefined }),
    async send({ code }) {
      const body = { code: code.replace(/\s/g, '') }
      try {
        if (isApp) await call('POST /api/auth/two-factor/verify-totp', { body })
        else await call('POST /api/auth/two-factor/verify-backup-code', { body })
      } catch (error) {
        if (isApiRefusal(error, 'sign_in_expired')) onExpired()
        throw error
      }
      onSignedIn()
    },
  })
  return (
    <Form form={form} submit={t('second.submit')} isWide>
      <TextField
        {...form.text('code')}
        label={t(isApp ? 'second.app' : 'second.recovery')}
        autoComplete="one-time-code"
        inputMode={isApp ? 'numeric' : 'text'}
        autoCapitalize="none"
        spellCheck={false}
        className="figures font-mono text-xl tracking-widest"
        autoFocus
      />
    </Form>
  )
}
