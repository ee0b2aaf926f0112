// Confirming a new e-mail address: the code of the letter, in a session of the account's owner. The
// page asks for a sign-in itself, so that the code stays behind the hash meanwhile.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { codeInAddress, dropCode } from '../../account/code.ts'
import { SignInSteps } from '../../account/SignInSteps.tsx'
import { GuestSheet } from '../../frame/GuestFrame.tsx'
import { paths } from '../../paths.ts'
import { call } from '../../runtime/api.ts'
import { meAsk } from '../../runtime/asks.ts'
import { useErrorText } from '../../runtime/errors.ts'
import { Asked } from '../../ui/Asked.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Button, ButtonLink } from '../../ui/Button.tsx'

export function Email() {
  const { t } = useTranslation()
  const client = useQueryClient()
  const [code] = useState(codeInAddress)
  const me = useQuery(meAsk)
  const errorText = useErrorText()
  const confirm = useMutation({
    mutationFn: (given: string) => call('POST /api/auth/email/confirm', { body: { code: given } }),
    onSuccess: () => {
      dropCode()
      return client.invalidateQueries({ queryKey: meAsk.queryKey })
    },
  })
  if (code === undefined) {
    return (
      <GuestSheet title={t('emailChange.spentTitle')} lead={t('emailChange.spentText')}>
        <SettingsLink />
      </GuestSheet>
    )
  }
  if (confirm.isSuccess) {
    const email = me.data?.email ?? ''
    return (
      <GuestSheet title={t('emailChange.doneTitle')} lead={t('emailChange.doneText', { email })}>
        <SettingsLink />
      </GuestSheet>
    )
  }
  return (
    <GuestSheet title={t('emailChange.title')} lead={t('emailChange.text')}>
      <Asked query={me}>
        {(owner) =>
          owner === null ? (
            <SignInSteps
              onSignedIn={() => void client.invalidateQueries({ queryKey: meAsk.queryKey })}
            />
          ) : (
            <>
              <div role="alert" className="empty:hidden">
                {confirm.isError && <Banner tone="bad">{errorText(confirm.error)}</Banner>}
              </div>
              <Button
                tone="main"
                isWide
                isPending={confirm.isPending}
                onClick={() => confirm.mutate(code)}
              >
                {t('emailChange.submit')}
              </Button>
            </>
          )
        }
      </Asked>
    </GuestSheet>
  )
}

function SettingsLink() {
  const { t } = useTranslation()
  return (
    <ButtonLink to={paths.settings} tone="main">
      {t('nav.settings')}
    </ButtonLink>
  )
}
