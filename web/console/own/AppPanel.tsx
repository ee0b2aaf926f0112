// One's own authenticator app: setting one up, replacing it, and new recovery codes.
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { OwnSignIn } from '../../../src/operator/console/contract/own.ts'
import { Button } from '../../ui/Button.tsx'
import { ConfirmDialog, Dialog } from '../../ui/dialog/Dialog.tsx'
import { Badge, Panel } from '../../ui/parts.tsx'
import { useErrorToast } from '../../ui/Toasts.tsx'
import { call } from '../call.ts'
import { ownQuery } from '../queries.ts'
import { type App, AppStep, CodesStep } from '../sign-in/AppSteps.tsx'
import type { WithProof } from './Proof.tsx'

type Step =
  | { readonly at: 'app'; readonly app: App }
  | { readonly at: 'sure' }
  | { readonly at: 'codes'; readonly codes: readonly string[] }

export function AppPanel(props: { readonly own: OwnSignIn; readonly withProof: WithProof }) {
  const { t } = useTranslation()
  const { own, withProof } = props
  const client = useQueryClient()
  const showError = useErrorToast()
  const [step, setStep] = useState<Step>()

  function close(): void {
    setStep(undefined)
    void client.invalidateQueries({ queryKey: ownQuery.queryKey })
  }
  const begin = () =>
    withProof(async () => setStep({ at: 'app', app: await call('POST /api/enrolment/app') }))
  const renew = () =>
    withProof(async () => {
      const { recoveryCodes } = await call('POST /api/own/recovery-codes')
      setStep({ at: 'codes', codes: recoveryCodes })
    })

  return (
    <Panel
      title={t('console.own.app')}
      hint={t('console.own.appHint')}
      actions={
        <Badge tone={own.hasApp ? 'good' : 'note'}>
          {t(own.hasApp ? 'console.own.appOn' : 'console.own.appOff')}
        </Badge>
      }
    >
      {own.recoveryCodes !== null && (
        <p className="mb-4 text-soft">
          {t('console.own.codesLeft', { number: own.recoveryCodes })}
        </p>
      )}
      <div className="flex flex-wrap gap-3">
        <Button onClick={() => void begin().catch(showError)}>
          {t(own.hasApp ? 'console.own.otherApp' : 'console.own.newApp')}
        </Button>
        {own.hasApp && (
          <Button onClick={() => setStep({ at: 'sure' })}>{t('console.own.newCodes')}</Button>
        )}
      </div>
      <ConfirmDialog
        isOpen={step?.at === 'sure'}
        onClose={close}
        title={t('console.own.newCodes')}
        text={t('console.own.newCodesText')}
        confirm={t('action.continue')}
        tone="main"
        onConfirm={() => {
          setStep(undefined)
          void renew().catch(showError)
        }}
      />
      <Dialog isOpen={step?.at === 'app'} onClose={close} title={t('console.enrol.appTitle')}>
        {step?.at === 'app' && (
          <AppStep app={step.app} onDone={(codes) => setStep({ at: 'codes', codes })} />
        )}
      </Dialog>
      <Dialog
        isOpen={step?.at === 'codes'}
        onClose={close}
        title={t('console.enrol.codesTitle')}
        text={t('console.enrol.codesLead')}
        isPersistent
      >
        {step?.at === 'codes' && <CodesStep codes={step.codes} onDone={close} />}
      </Dialog>
    </Panel>
  )
}
