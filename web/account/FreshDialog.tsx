// The dialog of Freshly: the same steps as a sign-in, for the address that is known.
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { meAsk } from '../runtime/asks.ts'
import { Dialog } from '../ui/dialog/Dialog.tsx'
import { SignInSteps } from './SignInSteps.tsx'

export function FreshDialog(props: {
  readonly onClose: () => void
  readonly onSignedIn: () => void
}) {
  const { t } = useTranslation()
  const { data: me } = useQuery({ ...meAsk, enabled: false })
  return (
    <Dialog isOpen onClose={props.onClose} title={t('fresh.title')} text={t('fresh.text')}>
      <SignInSteps email={me?.email ?? ''} onSignedIn={props.onSignedIn} />
    </Dialog>
  )
}
