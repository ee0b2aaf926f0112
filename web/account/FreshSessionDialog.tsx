// The dialog of FreshSession.tsx: the steps of a sign-in for the e-mail address that is signed in.
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { meQuery } from '../runtime/queries.ts'
import { Dialog } from '../ui/dialog/Dialog.tsx'
import { SignInSteps } from './SignInSteps.tsx'

export function FreshSessionDialog(props: {
  readonly onClose: () => void
  readonly onSignedIn: () => void
}) {
  const { t } = useTranslation()
  const { data: me } = useQuery({ ...meQuery, enabled: false })
  return (
    <Dialog isOpen onClose={props.onClose} title={t('fresh.title')} text={t('fresh.text')}>
      <SignInSteps email={me?.email ?? ''} onSignedIn={props.onSignedIn} />
    </Dialog>
  )
}
