// The sign-in page: password or passkey, then the second factor if the account has one.
import { useSearch } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { SignInSteps } from '../../account/SignInSteps.tsx'
import { GuestSheet } from '../../frame/GuestFrame.tsx'
import { paths } from '../../paths.ts'
import { useFinishSignIn } from '../../runtime/session.ts'
import { TextLink } from '../../ui/TextLink.tsx'

export function SignIn() {
  const { t } = useTranslation()
  const { next } = useSearch({ strict: false })
  const finishSignIn = useFinishSignIn()
  return (
    <GuestSheet
      title={t('signIn.title')}
      below={
        <p>
          {t('signIn.newHere')}{' '}
          <TextLink to={paths.register} className="inline-block py-1">
            {t('signIn.register')}
          </TextLink>
        </p>
      }
    >
      <SignInSteps onSignedIn={() => void finishSignIn(next)} />
    </GuestSheet>
  )
}
