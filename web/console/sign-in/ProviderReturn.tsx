// Where the identity provider sends the browser back to: the console checks its answer, and asks
// for our own second factor unless the provider's counts.
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { PasskeyButton } from '../../account/PasskeyButton.tsx'
import { SecondFactorStep } from '../../account/SecondFactorStep.tsx'
import { useErrorText } from '../../runtime/errors.ts'
import { hasPasskeys } from '../../runtime/webauthn.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Skeleton } from '../../ui/parts.tsx'
import { TextLink } from '../../ui/TextLink.tsx'
import { call } from '../call.ts'
import { paths } from '../paths.ts'
import { meQuery } from '../queries.ts'
import { GuestSheet } from './GuestSheet.tsx'
import { signInByPasskey } from './passkey.ts'

type Step = 'checking' | 'code' | { readonly problem: string }

export function ProviderReturn() {
  const { t } = useTranslation()
  const client = useQueryClient()
  const navigate = useNavigate()
  const errorText = useErrorText()
  const [step, setStep] = useState<Step>('checking')
  const isSent = useRef(false)

  async function enter(): Promise<void> {
    await client.fetchQuery({ ...meQuery, staleTime: 0 })
    await navigate({ to: paths.today, replace: true })
  }

  useEffect(() => {
    // Once: React runs effects twice in development, and the answer works once.
    if (isSent.current) return
    isSent.current = true
    const query = window.location.search.slice(1)
    // The code must not stay in the history.
    window.history.replaceState(window.history.state, '', paths.provider)
    call('POST /api/sign-in/provider', { body: { query } })
      .then(({ missing }) => (missing === null ? enter() : setStep('code')))
      .catch((error: unknown) => setStep({ problem: errorText(error) }))
  })

  if (step === 'checking') {
    return (
      <GuestSheet title={t('console.signIn.codeTitle')}>
        <Skeleton />
      </GuestSheet>
    )
  }
  if (step === 'code') {
    return (
      <GuestSheet title={t('console.signIn.codeTitle')}>
        <div className="grid gap-6">
          <SecondFactorStep
            send={async (_way, code) => {
              await call('POST /api/sign-in/code', { body: { code } })
            }}
            onDone={() => void enter()}
          />
          {hasPasskeys() && (
            <PasskeyButton
              label={t('console.signIn.passkey')}
              send={signInByPasskey}
              onDone={() => void enter()}
            />
          )}
        </div>
      </GuestSheet>
    )
  }
  return (
    <GuestSheet title={t('console.signIn.failed')}>
      <div role="alert">
        <Banner tone="bad">{step.problem}</Banner>
      </div>
      <TextLink to={paths.signIn}>{t('console.signIn.back')}</TextLink>
    </GuestSheet>
  )
}
