// The button of the company's identity provider, if the installation has one.
import { useQuery } from '@tanstack/react-query'
import { Building2 } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '../../ui/Button.tsx'
import { useErrorToast } from '../../ui/Toasts.tsx'
import { call } from '../call.ts'
import { signInWaysQuery } from '../queries.ts'

export function ProviderButton() {
  const { t } = useTranslation()
  const name = useQuery(signInWaysQuery).data?.provider ?? null
  const [isPending, setPending] = useState(false)
  const showError = useErrorToast()
  if (name === null) return null

  function begin(): void {
    setPending(true)
    call('POST /api/sign-in/provider/begin')
      .then(({ url }) => window.location.assign(url))
      .catch((error: unknown) => {
        setPending(false)
        showError(error)
      })
  }

  return (
    <Button icon={Building2} isWide isPending={isPending} onClick={begin}>
      {t('console.signIn.provider', { name, interpolation: { escapeValue: false } })}
    </Button>
  )
}
