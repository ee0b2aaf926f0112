// "or" and a button that asks the browser for a passkey, below a password form.
import { Fingerprint } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '../ui/Button.tsx'
import { useErrorToast } from '../ui/Toasts.tsx'

export function PasskeyButton(props: {
  readonly label: string
  readonly send: () => Promise<void>
  readonly onDone: () => void
}) {
  const { t } = useTranslation()
  const { label, send, onDone } = props
  const [isPending, setPending] = useState(false)
  const showError = useErrorToast()
  async function ask(): Promise<void> {
    setPending(true)
    try {
      await send()
      onDone()
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
      <Button icon={Fingerprint} isWide isPending={isPending} onClick={() => void ask()}>
        {label}
      </Button>
    </div>
  )
}
