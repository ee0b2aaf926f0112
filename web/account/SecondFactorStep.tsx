// Asks for a code from the authenticator app, or for a recovery code if the app is lost. The second
// step of a sign-in and the dialog "confirm it is you" use it.
import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '../ui/Button.tsx'
import { TextField } from '../ui/form/Field.tsx'
import { Form } from '../ui/form/Form.tsx'
import { useForm } from '../ui/form/use-form.ts'

export type CodeWay = 'app' | 'recovery'

type StepProps = CodeProps & {
  /** During a sign-in: what helps who has neither the app nor a recovery code. */
  readonly lost?: ReactNode
}

type CodeProps = {
  readonly send: (way: CodeWay, code: string) => Promise<void>
  readonly onDone: () => void
}

export function SecondFactorStep({ lost, ...props }: StepProps) {
  const { t } = useTranslation()
  const [way, setWay] = useState<CodeWay>('app')
  const other = way === 'app' ? 'recovery' : 'app'
  return (
    <div className="grid gap-5">
      <p className="text-soft">{t(way === 'app' ? 'second.appText' : 'second.recoveryText')}</p>
      <CodeForm key={way} way={way} {...props} />
      <Button tone="quiet" onClick={() => setWay(other)}>
        {t(other === 'app' ? 'second.useApp' : 'second.useRecovery')}
      </Button>
      {lost}
    </div>
  )
}

function CodeForm(props: CodeProps & { readonly way: CodeWay }) {
  const { t } = useTranslation()
  const { way, send, onDone } = props
  const isApp = way === 'app'
  const form = useForm({
    initial: { code: '' },
    errorFields: { second_factor_wrong: 'code', body_wrong: 'code' },
    check: ({ code }) => ({ code: code.trim().length < 6 ? t('second.short') : undefined }),
    async send({ code }) {
      await send(way, code.replace(/\s/g, ''))
      onDone()
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
