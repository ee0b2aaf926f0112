// The error pages: unknown address, no connection, server unavailable, unexpected error. Inside a
// frame they keep it. Outside, an error gets that of the public pages: who is signed in may be what
// could not be read, and the account area's own frame may be what failed.
import { useQuery } from '@tanstack/react-query'
import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import { GuestSheet } from '../frame/GuestFrame.tsx'
import { ProblemFrame } from '../frame/ProblemFrame.tsx'
import { SiteFrame } from '../frame/SiteFrame.tsx'
import { paths } from '../paths.ts'
import { isApiRefusal, isTransient } from '../runtime/api.ts'
import { useErrorText } from '../runtime/errors.ts'
import { brandQuery, RETRY_MS } from '../runtime/queries.ts'
import { Banner } from '../ui/Banner.tsx'
import { Button, ButtonLink } from '../ui/Button.tsx'

export function NotFound() {
  const { t } = useTranslation()
  return (
    <ProblemFrame>
      <GuestSheet title={t('notFound.title')} lead={t('notFound.text')}>
        <ButtonLink to={paths.home} tone="main">
          {t('nav.toHome')}
        </ButtonLink>
      </GuestSheet>
    </ProblemFrame>
  )
}

export function ErrorPage({ error }: ErrorComponentProps) {
  return isTransient(error) ? (
    <ServerUnavailable error={error} />
  ) : (
    <UnexpectedError error={error} />
  )
}

/** The server cannot be reached for the moment: the page retries by itself until it can. */
function ServerUnavailable({ error }: { readonly error: unknown }) {
  const { t } = useTranslation()
  const router = useRouter()
  const errorText = useErrorText()
  // biome-ignore lint/correctness/useExhaustiveDependencies: each new error starts a new timer.
  useEffect(() => {
    const timer = window.setTimeout(() => void router.invalidate(), RETRY_MS)
    return () => window.clearTimeout(timer)
  }, [router, error])
  const isOffline = isApiRefusal(error, 'offline')
  return (
    <SiteFrame>
      <GuestSheet
        title={isOffline ? t('away.offline') : t('away.title')}
        lead={isOffline ? errorText(error) : t('away.text')}
      >
        <Button onClick={() => void router.invalidate()}>{t('action.again')}</Button>
      </GuestSheet>
    </SiteFrame>
  )
}

function UnexpectedError({ error }: { readonly error: unknown }) {
  const { t } = useTranslation()
  const { data: brand } = useQuery(brandQuery)
  const errorText = useErrorText()
  const email = brand?.supportEmail
  const lead = email === undefined ? t('broken.textPlain') : t('broken.text', { email })
  return (
    <SiteFrame>
      <GuestSheet title={t('broken.title')} lead={lead}>
        {/* For support: the owner can pass it on. */}
        <Banner tone="bad" title={t('broken.detail')}>
          {isApiRefusal(error) ? (
            errorText(error)
          ) : (
            <code className="text-sm">{String(error)}</code>
          )}
        </Banner>
        <Button tone="main" onClick={() => window.location.reload()}>
          {t('broken.reload')}
        </Button>
      </GuestSheet>
    </SiteFrame>
  )
}
