// The dialog of StepUp.tsx: asks for what the session has not proven lately, one thing after the
// other, or for a passkey, which replaces all of it. The session stays the same.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Proof } from '../../src/cabinet/contract/contract.ts'
import { call } from '../runtime/api.ts'
import { meQuery } from '../runtime/queries.ts'
import { hasPasskeys } from '../runtime/webauthn.ts'
import { Dialog } from '../ui/dialog/Dialog.tsx'
import { Form } from '../ui/form/Form.tsx'
import { PasswordField } from '../ui/form/PasswordField.tsx'
import { useForm } from '../ui/form/use-form.ts'
import { PasskeyButton } from './PasskeyButton.tsx'
import { proveByPasskey } from './passkey.ts'
import { SecondFactorStep } from './SecondFactorStep.tsx'

export function StepUpDialog(props: {
  readonly needs: readonly Proof[]
  readonly onClose: () => void
  readonly onProven: () => void
}) {
  const { t } = useTranslation()
  const { onClose, onProven } = props
  const { data: me } = useQuery({ ...meQuery, enabled: false })
  const [missing, setMissing] = useState(props.needs)
  const [asked] = missing
  // After a password reset passkeys do not count until the owner has reviewed them.
  const offersPasskey = hasPasskeys() && (me?.passkeys ?? 0) > 0 && (me?.resetAt ?? null) === null

  function proved(): void {
    if (missing.length === 1) onProven()
    else setMissing(missing.slice(1))
  }

  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={t('stepUp.title')}
      text={t(asked === 'code' ? 'stepUp.codeText' : 'stepUp.passwordText')}
    >
      <div className="grid gap-6">
        {asked === 'code' ? (
          <SecondFactorStep send={proveCode} onDone={proved} />
        ) : (
          <PasswordProof email={me?.email ?? ''} onProven={proved} />
        )}
        {offersPasskey && (
          <PasskeyButton label={t('stepUp.passkey')} send={proveByPasskey} onDone={onProven} />
        )}
      </div>
    </Dialog>
  )
}

async function proveCode(way: 'app' | 'recovery', code: string): Promise<void> {
  const body = way === 'app' ? { code } : { recoveryCode: code }
  await call('POST /api/auth/step-up', { body })
}

function PasswordProof(props: { readonly email: string; readonly onProven: () => void }) {
  const { t } = useTranslation()
  const { email, onProven } = props
  const form = useForm({
    initial: { password: '' },
    errorFields: { password_wrong: 'password' },
    check: ({ password }) => ({ password: password === '' ? t('field.required') : undefined }),
    async send({ password }) {
      await call('POST /api/auth/step-up', { body: { password } })
      onProven()
    },
  })
  return (
    <Form form={form} submit={t('stepUp.submit')} isWide>
      {/* Tells password managers which account the password belongs to. */}
      <input type="text" name="username" autoComplete="username" value={email} readOnly hidden />
      <PasswordField {...form.text('password')} label={t('signIn.password')} autoFocus />
    </Form>
  )
}
