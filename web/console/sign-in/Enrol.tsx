// The page of a one-time link: an invited operator sets a password and then the first second
// factor, a passkey or an authenticator app, whose recovery codes are shown once.
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Fingerprint, Smartphone } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { hasPasskeys, makePasskey } from '../../runtime/webauthn.ts'
import { Button } from '../../ui/Button.tsx'
import { TextField } from '../../ui/form/Field.tsx'
import { Form } from '../../ui/form/Form.tsx'
import { PASSWORD_LENGTH_MIN, PasswordField } from '../../ui/form/PasswordField.tsx'
import { useForm } from '../../ui/form/use-form.ts'
import { useErrorToast } from '../../ui/Toasts.tsx'
import { call } from '../call.ts'
import { paths } from '../paths.ts'
import { meQuery } from '../queries.ts'
import { type App, AppStep, CodesStep } from './AppSteps.tsx'
import { GuestSheet } from './GuestSheet.tsx'

type Step =
  | { readonly at: 'password' }
  | { readonly at: 'factor' }
  | { readonly at: 'app'; readonly app: App }
  | { readonly at: 'codes'; readonly codes: readonly string[] }

export function Enrol() {
  const { t } = useTranslation()
  const client = useQueryClient()
  const navigate = useNavigate()
  const [step, setStep] = useState<Step>({ at: 'password' })

  async function enter(): Promise<void> {
    await client.fetchQuery({ ...meQuery, staleTime: 0 })
    await navigate({ to: paths.today, replace: true })
  }

  switch (step.at) {
    case 'password':
      return (
        <GuestSheet title={t('console.enrol.title')} lead={t('console.enrol.lead')}>
          <PasswordStep onDone={() => setStep({ at: 'factor' })} />
        </GuestSheet>
      )
    case 'factor':
      return (
        <GuestSheet title={t('console.enrol.factorTitle')} lead={t('console.enrol.factorLead')}>
          <FactorStep onApp={(app) => setStep({ at: 'app', app })} onPasskey={() => void enter()} />
        </GuestSheet>
      )
    case 'app':
      return (
        <GuestSheet title={t('console.enrol.appTitle')} lead={t('console.enrol.appLead')}>
          <AppStep app={step.app} onDone={(codes) => setStep({ at: 'codes', codes })} />
        </GuestSheet>
      )
    case 'codes':
      return (
        <GuestSheet title={t('console.enrol.codesTitle')} lead={t('console.enrol.codesLead')}>
          <CodesStep codes={step.codes} onDone={() => void enter()} />
        </GuestSheet>
      )
  }
}

function PasswordStep({ onDone }: { readonly onDone: () => void }) {
  const { t } = useTranslation()
  // In the part of the address that browsers do not send.
  const code = decodeURIComponent(window.location.hash.slice(1))
  const form = useForm({
    initial: { code, password: '' },
    check: ({ code: given, password }) => ({
      code: given.trim() === '' ? t('field.required') : undefined,
      password: [...password].length < PASSWORD_LENGTH_MIN ? t('console.enrol.short') : undefined,
    }),
    async send({ code: given, password }) {
      await call('POST /api/enrolment', { body: { code: given.trim(), password } })
      onDone()
    },
  })
  return (
    <Form form={form} submit={t('action.continue')} isWide>
      <TextField
        {...form.text('code')}
        label={t('console.enrol.code')}
        autoComplete="off"
        spellCheck={false}
        className="font-mono"
      />
      <PasswordField {...form.text('password')} label={t('console.enrol.password')} isNew />
    </Form>
  )
}

function FactorStep(props: { readonly onApp: (app: App) => void; readonly onPasskey: () => void }) {
  const { t } = useTranslation()
  const [pending, setPending] = useState<'app' | 'passkey'>()
  const showError = useErrorToast()

  function start(what: 'app' | 'passkey', work: () => Promise<void>): void {
    setPending(what)
    work()
      .catch(showError)
      .finally(() => setPending(undefined))
  }

  async function addPasskey(): Promise<void> {
    const { ticket, options } = await call('POST /api/enrolment/passkey/begin')
    const response = await makePasskey(options)
    const name = t('console.enrol.passkeyName')
    await call('POST /api/enrolment/passkey', { body: { ticket, response, name } })
    props.onPasskey()
  }

  return (
    <div className="grid gap-3">
      {hasPasskeys() && (
        <Button
          tone="main"
          icon={Fingerprint}
          isWide
          isPending={pending === 'passkey'}
          onClick={() => start('passkey', addPasskey)}
        >
          {t('console.enrol.passkey')}
        </Button>
      )}
      <Button
        icon={Smartphone}
        isWide
        isPending={pending === 'app'}
        onClick={() => start('app', async () => props.onApp(await call('POST /api/enrolment/app')))}
      >
        {t('console.enrol.app')}
      </Button>
    </div>
  )
}
