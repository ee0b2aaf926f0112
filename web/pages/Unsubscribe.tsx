// Switches the e-mail about each month off, with the code from one, after a click: mail scanners
// open links. Mail programs lead here with the code in the query, because they cannot send a hash.
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { codeInHash } from '../account/hash-code.ts'
import { GuestSheet } from '../frame/GuestFrame.tsx'
import { paths } from '../paths.ts'
import { call } from '../runtime/api.ts'
import { useErrorText } from '../runtime/errors.ts'
import { Banner } from '../ui/Banner.tsx'
import { Button, ButtonLink } from '../ui/Button.tsx'

const codeInAddress = () =>
  codeInHash() ?? new URLSearchParams(window.location.search).get('code') ?? undefined

export function Unsubscribe() {
  const { t } = useTranslation()
  const [code] = useState(codeInAddress)
  const errorText = useErrorText()
  const off = useMutation({
    mutationFn: (given: string) => call('POST /api/unsubscribe', { body: { code: given } }),
  })
  if (off.data?.isCodeRight) {
    return (
      <GuestSheet title={t('unsubscribe.doneTitle')} lead={t('unsubscribe.doneText')}>
        <ToSettings />
      </GuestSheet>
    )
  }
  if (code === undefined || off.isSuccess) {
    return (
      <GuestSheet title={t('unsubscribe.spentTitle')} lead={t('unsubscribe.spentText')}>
        <ToSettings />
      </GuestSheet>
    )
  }
  return (
    <GuestSheet title={t('unsubscribe.title')} lead={t('unsubscribe.text')}>
      <div className="grid gap-4">
        <div role="alert" className="empty:hidden">
          {off.isError && <Banner tone="bad">{errorText(off.error)}</Banner>}
        </div>
        <Button tone="main" isWide isPending={off.isPending} onClick={() => off.mutate(code)}>
          {t('unsubscribe.submit')}
        </Button>
      </div>
    </GuestSheet>
  )
}

function ToSettings() {
  const { t } = useTranslation()
  return <ButtonLink to={paths.settings}>{t('nav.settings')}</ButtonLink>
}
