// The pages for what should not happen: an address that leads nowhere, and a page that broke.
import { useQuery } from '@tanstack/react-query'
import type { ErrorComponentProps } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { isNo } from '../api.ts'
import { brandAsk } from '../asks.ts'
import { useErrorText } from '../errors.ts'
import { GuestSheet, GuestShell } from '../frame/GuestFrame.tsx'
import { paths } from '../paths.ts'
import { Banner } from '../ui/Banner.tsx'
import { Button, ButtonLink } from '../ui/Button.tsx'

export function NotFound() {
  const { t } = useTranslation()
  return (
    <GuestShell>
      <GuestSheet title={t('notFound.title')} lead={t('notFound.text')}>
        <ButtonLink to={paths.home} tone="main">
          {t('nav.toHome')}
        </ButtonLink>
      </GuestSheet>
    </GuestShell>
  )
}

export function Broken({ error }: ErrorComponentProps) {
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
