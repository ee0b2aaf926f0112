// Undoes a change of the e-mail address with the code from the e-mail to the old address. A click
// is needed: mail scanners open links. Nobody is signed in afterwards.
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { codeInHash, removeCodeFromHash } from '../../account/hash-code.ts'
import { GuestSheet } from '../../frame/GuestFrame.tsx'
import { paths } from '../../paths.ts'
import { call, isApiRefusal } from '../../runtime/api.ts'
import { useErrorText } from '../../runtime/errors.ts'
import { meQuery } from '../../runtime/queries.ts'
import { clearAnswers } from '../../runtime/session.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Button, ButtonLink } from '../../ui/Button.tsx'

export function UndoEmailChange() {
  const { t } = useTranslation()
  const client = useQueryClient()
  const [code] = useState(codeInHash)
  const errorText = useErrorText()
  const undo = useMutation({
    mutationFn: (given: string) => call('POST /api/auth/email/undo', { body: { code: given } }),
    onSuccess: () => {
      removeCodeFromHash()
      // The server has ended every session, also one in this browser.
      client.setQueryData(meQuery.queryKey, null)
      clearAnswers(client)
    },
  })
  if (undo.isSuccess) {
    return (
      <GuestSheet title={t('undoEmail.doneTitle')} lead={t('undoEmail.doneText')}>
        <ButtonLink to={paths.signIn} tone="main">
          {t('signIn.submit')}
        </ButtonLink>
      </GuestSheet>
    )
  }
  if (code === undefined || isApiRefusal(undo.error, 'code_wrong')) {
    return (
      <GuestSheet title={t('undoEmail.spentTitle')} lead={t('undoEmail.spentText')}>
        <ButtonLink to={paths.signIn} tone="main">
          {t('signIn.submit')}
        </ButtonLink>
      </GuestSheet>
    )
  }
  return (
    <GuestSheet title={t('undoEmail.title')} lead={t('undoEmail.text')}>
      <div className="grid gap-4">
        <div role="alert" className="empty:hidden">
          {undo.isError && <Banner tone="bad">{errorText(undo.error)}</Banner>}
        </div>
        <Button tone="main" isWide isPending={undo.isPending} onClick={() => undo.mutate(code)}>
          {t('undoEmail.submit')}
        </Button>
      </div>
    </GuestSheet>
  )
}
