// A page of a link from an e-mail that does something after one click: mail scanners open links.
import { useMutation } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Trans, useTranslation } from 'react-i18next'
import { codeInHash, removeCodeFromHash } from '../../account/hash-code.ts'
import { useFormat } from '../../format/use-format.ts'
import { GuestSheet } from '../../frame/GuestFrame.tsx'
import { paths } from '../../paths.ts'
import { isApiRefusal } from '../../runtime/api.ts'
import { useErrorText } from '../../runtime/errors.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Button, ButtonLink } from '../../ui/Button.tsx'

export function LinkSheet<Done>(props: {
  readonly title: string
  readonly text: string
  readonly submit: string
  readonly send: (code: string) => Promise<Done>
  /** What follows: a title and a text. */
  readonly done: (answer: Done) => { readonly title: string; readonly text: ReactNode }
}) {
  const { title, text, submit, send, done } = props
  const { t } = useTranslation()
  const [code] = useState(codeInHash)
  const errorText = useErrorText()
  const action = useMutation({ mutationFn: send, onSuccess: removeCodeFromHash })
  if (action.isSuccess) {
    const after = done(action.data)
    return (
      <GuestSheet title={after.title} lead={after.text}>
        <ButtonLink to={paths.signIn} tone="main">
          {t('signIn.submit')}
        </ButtonLink>
      </GuestSheet>
    )
  }
  if (code === undefined || isApiRefusal(action.error, 'code_wrong')) return <SpentLink />
  return (
    <GuestSheet title={title} lead={text}>
      <div className="grid gap-4">
        <div role="alert" className="empty:hidden">
          {action.isError && <Banner tone="bad">{errorText(action.error)}</Banner>}
        </div>
        <Button tone="main" isWide isPending={action.isPending} onClick={() => action.mutate(code)}>
          {submit}
        </Button>
      </div>
    </GuestSheet>
  )
}

export function SpentLink() {
  const { t } = useTranslation()
  return (
    <GuestSheet title={t('recovery.spentTitle')} lead={t('recovery.spentText')}>
      <ButtonLink to={paths.signIn} tone="main">
        {t('signIn.submit')}
      </ButtonLink>
    </GuestSheet>
  )
}

/** Until when the recovery waits, and what happens meanwhile. */
export function WaitText({ ripeAt }: { readonly ripeAt: string | null }) {
  const { t } = useTranslation()
  const format = useFormat()
  return (
    <>
      <p>
        <Trans
          i18nKey="recovery.waitText"
          values={{ time: ripeAt === null ? '' : format.moment(ripeAt) }}
          components={{ b: <strong className="text-ink" /> }}
        />
      </p>
      <p>{t('recovery.waitMore')}</p>
    </>
  )
}
