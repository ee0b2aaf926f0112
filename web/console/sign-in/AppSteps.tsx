// Setting up an authenticator app: its QR code and first code, and then the recovery codes, which
// are shown once. Invitations and the page about one's own sign-in use them.
import { Download } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { saveFile } from '../../runtime/save-file.ts'
import { Button } from '../../ui/Button.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { CheckField, TextField } from '../../ui/form/Field.tsx'
import { Form } from '../../ui/form/Form.tsx'
import { useForm } from '../../ui/form/use-form.ts'
import { QrCode } from '../../ui/QrCode.tsx'
import { call } from '../call.ts'

export type App = { readonly seed: string; readonly uri: string }

export function AppStep(props: {
  readonly app: App
  readonly onDone: (codes: readonly string[]) => void
}) {
  const { t } = useTranslation()
  const { app, onDone } = props
  const form = useForm({
    initial: { code: '' },
    errorFields: { second_factor_wrong: 'code' },
    check: ({ code }) => ({ code: code.trim().length < 6 ? t('second.short') : undefined }),
    async send({ code }) {
      const body = { code: code.replace(/\s/g, '') }
      const { recoveryCodes } = await call('POST /api/enrolment/app/confirm', { body })
      onDone(recoveryCodes)
    },
  })
  return (
    <div className="grid gap-5">
      <div className="grid justify-items-center gap-3">
        <QrCode text={app.uri} label={t('console.enrol.qr')} />
        <p className="text-sm text-soft">{t('console.enrol.seed')}</p>
        <code className="text-center font-mono wrap-anywhere">{app.seed}</code>
        <CopyButton value={app.seed} />
      </div>
      <Form form={form} submit={t('second.submit')} isWide>
        <TextField
          {...form.text('code')}
          label={t('second.app')}
          autoComplete="one-time-code"
          inputMode="numeric"
          spellCheck={false}
          className="figures font-mono text-xl tracking-widest"
        />
      </Form>
    </div>
  )
}

export function CodesStep(props: {
  readonly codes: readonly string[]
  readonly onDone: () => void
}) {
  const { t } = useTranslation()
  const [isKept, setKept] = useState(false)
  const text = props.codes.join('\n')
  return (
    <div className="grid gap-5">
      <ul className="grid grid-cols-2 gap-x-6 gap-y-1.5 rounded-box bg-sunk p-4 font-mono">
        {props.codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <div className="flex flex-wrap gap-2">
        <CopyButton value={text} />
        <Button isSmall icon={Download} onClick={() => saveFile('recovery-codes.txt', `${text}\n`)}>
          {t('action.download')}
        </Button>
      </div>
      <CheckField isChecked={isKept} onChange={setKept}>
        {t('console.enrol.kept')}
      </CheckField>
      <Button tone="main" isWide disabled={!isKept} onClick={props.onDone}>
        {t('action.done')}
      </Button>
    </div>
  )
}
