// The second factor in the settings: turn it on; or, when it is on, get new recovery codes or turn
// it off. Each action asks for the password.
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { call } from '../../runtime/api.ts'
import { meQuery } from '../../runtime/queries.ts'
import { useMe } from '../../runtime/session.ts'
import { Button } from '../../ui/Button.tsx'
import { Dialog } from '../../ui/dialog/Dialog.tsx'
import { Badge, Panel } from '../../ui/parts.tsx'
import { useToast } from '../../ui/Toasts.tsx'
import { useStepUp } from '../StepUp.tsx'
import { EnableSteps } from './EnableSteps.tsx'
import { PasswordStep } from './PasswordStep.tsx'
import { RecoveryCodes } from './RecoveryCodes.tsx'

type Open = 'enable' | 'disable' | 'codes' | undefined

export function SecondFactor() {
  const { t } = useTranslation()
  const { hasSecondFactor } = useMe()
  const [open, setOpen] = useState<Open>()
  const close = () => setOpen(undefined)
  return (
    <Panel
      title={t('factor.title')}
      hint={t('factor.hint')}
      actions={
        <Badge tone={hasSecondFactor ? 'good' : 'note'}>
          {t(hasSecondFactor ? 'factor.on' : 'factor.off')}
        </Badge>
      }
    >
      <div className="flex flex-wrap gap-3">
        {/* One button for both, so that it keeps the focus when the factor is turned on. */}
        <Button onClick={() => setOpen(hasSecondFactor ? 'codes' : 'enable')}>
          {t(hasSecondFactor ? 'factor.newCodes' : 'factor.enable')}
        </Button>
        {hasSecondFactor && (
          <Button onClick={() => setOpen('disable')}>{t('factor.disable')}</Button>
        )}
      </div>
      <EnableSteps isOpen={open === 'enable'} onClose={close} />
      <DisableDialog isOpen={open === 'disable'} onClose={close} />
      <NewCodesDialog isOpen={open === 'codes'} onClose={close} />
    </Panel>
  )
}

type DialogState = { readonly isOpen: boolean; readonly onClose: () => void }

function DisableDialog({ isOpen, onClose }: DialogState) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const withStepUp = useStepUp()
  const toast = useToast()
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={t('factor.disableTitle')}
      text={t('factor.disableText')}
    >
      <PasswordStep
        submit={t('factor.disable')}
        tone="danger"
        send={async (password) => {
          const body = { password }
          await withStepUp(() => call('POST /api/auth/two-factor/disable', { body }))
          await client.invalidateQueries({ queryKey: meQuery.queryKey })
          onClose()
          toast(t('factor.disabled'))
        }}
      />
    </Dialog>
  )
}

function NewCodesDialog({ isOpen, onClose }: DialogState) {
  const { t } = useTranslation()
  const withStepUp = useStepUp()
  const [codes, setCodes] = useState<readonly string[]>()
  function leave(): void {
    setCodes(undefined)
    onClose()
  }
  return (
    <Dialog
      isOpen={isOpen}
      onClose={leave}
      isPersistent={codes !== undefined}
      title={t(codes === undefined ? 'factor.newCodesTitle' : 'factor.codesTitle')}
      text={t(codes === undefined ? 'factor.newCodesText' : 'factor.codesText')}
    >
      {codes === undefined ? (
        <PasswordStep
          submit={t('factor.newCodes')}
          send={async (password) => {
            const answer = await withStepUp(() =>
              call('POST /api/auth/two-factor/generate-backup-codes', { body: { password } }),
            )
            setCodes(answer.recoveryCodes)
          }}
        />
      ) : (
        <RecoveryCodes codes={codes} onKept={leave} />
      )}
    </Dialog>
  )
}
