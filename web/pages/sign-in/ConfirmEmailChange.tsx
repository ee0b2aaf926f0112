// Confirms a new e-mail address: the code from the e-mail, in a session of the owner. The page
// contains the sign-in itself, so that the code stays in the hash meanwhile.
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { codeInHash, removeCodeFromHash } from '../../account/hash-code.ts'
import { SignInSteps } from '../../account/SignInSteps.tsx'
import { GuestSheet } from '../../frame/GuestFrame.tsx'
import { paths } from '../../paths.ts'
import { call } from '../../runtime/api.ts'
import { useErrorText } from '../../runtime/errors.ts'
import { meQuery } from '../../runtime/queries.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Button, ButtonLink } from '../../ui/Button.tsx'
import { QueryView } from '../../ui/QueryView.tsx'

export function ConfirmEmailChange() {
  const { t } = useTranslation()
  const client = useQueryClient()
  const [code] = useState(codeInHash)
  const me = useQuery(meQuery)
  const errorText = useErrorText()
  const confirm = useMutation({
    mutationFn: (given: string) => call('POST /api/auth/email/confirm', { body: { code: given } }),
    onSuccess: () => {
      removeCodeFromHash()
      return client.invalidateQueries({ queryKey: meQuery.queryKey })
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
      <QueryView query={me}>
        {(owner) =>
          owner === null ? (
            <SignInSteps
              onSignedIn={() => void client.invalidateQueries({ queryKey: meQuery.queryKey })}
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
      </QueryView>
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
