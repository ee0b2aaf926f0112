// Asks for a factor again when the last proof is older than ten minutes, and then goes on with what
// the person wanted to do.
import { Fingerprint } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { SecondFactorStep } from '../../account/SecondFactorStep.tsx'
import { Button } from '../../ui/Button.tsx'
import { Dialog } from '../../ui/dialog/Dialog.tsx'
import { useErrorToast } from '../../ui/Toasts.tsx'
import { call, isRefused } from '../call.ts'
import { signInByPasskey } from '../sign-in/passkey.ts'

type Work = () => Promise<void>
/** Runs the work; without a recent proof, it runs after the person has given one. */
export type WithProof = (work: Work) => Promise<void>

export function useProof() {
  const [waiting, setWaiting] = useState<{ readonly work: Work }>()
  const showError = useErrorToast()
  const withProof: WithProof = async (work) => {
    try {
      await work()
    } catch (error) {
      if (!isRefused(error, 'second_factor_missing')) throw error
      setWaiting({ work })
    }
  }
  return {
    withProof,
    isAsked: waiting !== undefined,
    cancel: () => setWaiting(undefined),
    goOn() {
      setWaiting(undefined)
      waiting?.work().catch(showError)
    },
  }
}

export function ProofDialog(props: {
  readonly proof: ReturnType<typeof useProof>
  readonly hasApp: boolean
}) {
  const { t } = useTranslation()
  const { proof, hasApp } = props
  return (
    <Dialog
      isOpen={proof.isAsked}
      onClose={proof.cancel}
      title={t('console.own.prove')}
      text={t('console.own.proveText')}
    >
      {hasApp ? (
        <SecondFactorStep
          send={async (_way, code) => {
            await call('POST /api/sign-in/code', { body: { code } })
          }}
          onDone={proof.goOn}
        />
      ) : (
        <PasskeyProof onDone={proof.goOn} />
      )}
    </Dialog>
  )
}

function PasskeyProof({ onDone }: { readonly onDone: () => void }) {
  const { t } = useTranslation()
  const [isPending, setPending] = useState(false)
  const showError = useErrorToast()
  function prove(): void {
    setPending(true)
    signInByPasskey()
      .then(onDone)
      .catch(showError)
      .finally(() => setPending(false))
  }
  return (
    <Button tone="main" icon={Fingerprint} isWide isPending={isPending} onClick={prove}>
      {t('console.own.provePasskey')}
    </Button>
  )
}
