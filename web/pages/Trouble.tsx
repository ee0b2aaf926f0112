// The pages for what should not happen: an address that leads nowhere, and a page that broke.
import { useQuery } from '@tanstack/react-query'
import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import { GuestSheet, GuestShell } from '../frame/GuestFrame.tsx'
import { paths } from '../paths.ts'
import { isNo, isPassing } from '../runtime/api.ts'
import { AGAIN_MS, brandAsk } from '../runtime/asks.ts'
import { useErrorText } from '../runtime/errors.ts'
import { Banner } from '../ui/Banner.tsx'
import { Button, ButtonLink } from '../ui/Button.tsx'

export function NotFound() {
  return (
    <GuestShell>
      <NotFoundSheet />
    </GuestShell>
  )
}

/** The same inside of a frame. */
export function NotFoundSheet() {
  const { t } = useTranslation()
  return (
    <GuestSheet title={t('notFound.title')} lead={t('notFound.text')}>
      <ButtonLink to={paths.home} tone="main">
        {t('nav.toHome')}
      </ButtonLink>
    </GuestSheet>
  )
}

export function Broken({ error }: ErrorComponentProps) {
  return isPassing(error) ? <Away error={error} /> : <Fault error={error} />
}

/** Nothing is broken, only not there: the page opens by itself as soon as it can. */
function Away({ error }: { readonly error: unknown }) {
  const { t } = useTranslation()
  const router = useRouter()
  const errorText = useErrorText()
  // biome-ignore lint/correctness/useExhaustiveDependencies: another error, another try.
  useEffect(() => {
    const timer = window.setTimeout(() => void router.invalidate(), AGAIN_MS)
    return () => window.clearTimeout(timer)
  }, [router, error])
  return (
    <GuestShell>
      <GuestSheet title={t('away.title')} lead={t('away.text')}>
        {isNo(error, 'offline') && <p>{errorText(error)}</p>}
        <Button onClick={() => void router.invalidate()}>{t('action.again')}</Button>
      </GuestSheet>
    </GuestShell>
  )
}

function Fault({ error }: { readonly error: unknown }) {
  const { t } = useTranslation()
  const { data: brand } = useQuery(brandAsk)
  const errorText = useErrorText()
  const email = brand?.supportEmail
  const lead = email === undefined ? t('broken.textPlain') : t('broken.text', { email })
  return (
    <GuestShell>
      <GuestSheet title={t('broken.title')} lead={lead}>
        {/* What broke is for whoever helps; the owner may pass it on. */}
        <Banner tone="bad" title={t('broken.detail')}>
          {isNo(error) ? errorText(error) : <code className="text-sm">{String(error)}</code>}
        </Banner>
        <Button tone="main" onClick={() => window.location.reload()}>
          {t('broken.reload')}
        </Button>
      </GuestSheet>
    </GuestShell>
  )
}
