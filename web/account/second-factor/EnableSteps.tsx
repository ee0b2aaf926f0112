// Turns the second factor on: the password, then the app (QR code or secret as text) with its first
// code, then the recovery codes, which are shown only once.
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { type AnswerOf, call } from '../../runtime/api.ts'
import { meQuery } from '../../runtime/queries.ts'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Dialog } from '../../ui/dialog/Dialog.tsx'
import { TextField } from '../../ui/form/Field.tsx'
import { Form } from '../../ui/form/Form.tsx'
import { useForm } from '../../ui/form/use-form.ts'
import { QrCode } from '../../ui/QrCode.tsx'
import { PasswordStep } from './PasswordStep.tsx'
import { RecoveryCodes } from './RecoveryCodes.tsx'

type Enabled = AnswerOf<'POST /api/auth/two-factor/enable'>

export function EnableSteps(props: { readonly isOpen: boolean; readonly onClose: () => void }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const [enabled, setEnabled] = useState<Enabled>()
  const [isVerified, setVerified] = useState(false)
  const step = enabled === undefined ? 'password' : isVerified ? 'codes' : 'app'

  function leave(): void {
    setEnabled(undefined)
    setVerified(false)
    props.onClose()
    if (isVerified) void client.invalidateQueries({ queryKey: meQuery.queryKey })
  }

  return (
    <Dialog
      isOpen={props.isOpen}
      onClose={leave}
      isPersistent={step === 'codes'}
      title={t(step === 'codes' ? 'factor.codesTitle' : 'factor.enableTitle')}
      text={t(`factor.${step}Text`)}
    >
      {enabled === undefined && (
        <PasswordStep
          submit={t('action.continue')}
          send={async (password) =>
            setEnabled(await call('POST /api/auth/two-factor/enable', { body: { password } }))
          }
        />
      )}
      {enabled !== undefined && !isVerified && (
        <AppStep uri={enabled.uri} onVerified={() => setVerified(true)} />
      )}
      {enabled !== undefined && isVerified && (
        <RecoveryCodes codes={enabled.recoveryCodes} onKept={leave} />
      )}
    </Dialog>
  )
}

function AppStep(props: { readonly uri: string; readonly onVerified: () => void }) {
  const { t } = useTranslation()
  const { uri, onVerified } = props
  const secret = new URL(uri).searchParams.get('secret') ?? ''
  const form = useForm({
    initial: { code: '' },
    errorFields: { second_factor_wrong: 'code', body_wrong: 'code' },
    check: ({ code }) => ({ code: code.trim().length < 6 ? t('second.short') : undefined }),
    async send({ code }) {
      const body = { code: code.replace(/\s/g, '') }
      await call('POST /api/auth/two-factor/verify-totp', { body })
      onVerified()
    },
  })
  return (
    <div className="grid gap-5">
      <div className="grid justify-items-center gap-3">
        <QrCode text={uri} label={t('factor.qr')} />
        <p className="text-sm text-soft">{t('factor.secret')}</p>
        <code className="text-center">{secret.replace(/(.{4})(?=.)/g, '$1 ')}</code>
        <CopyButton value={secret} />
      </div>
      <Form form={form} submit={t('factor.verify')} isWide>
        <TextField
          {...form.text('code')}
          label={t('second.app')}
          autoComplete="one-time-code"
          inputMode="numeric"
          className="figures font-mono text-xl tracking-widest"
        />
      </Form>
    </div>
  )
}
