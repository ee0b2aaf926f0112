// The page of the link that an owner without an authenticator asked for: begins the wait, shows it,
// or completes the recovery after it. Password and mailbox are proven each time.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { RecoveryState } from '../../../src/cabinet/contract/auth.ts'
import { codeInHash, removeCodeFromHash } from '../../account/hash-code.ts'
import { useFormat } from '../../format/use-format.ts'
import { GuestSheet } from '../../frame/GuestFrame.tsx'
import { paths } from '../../paths.ts'
import { call, isApiRefusal } from '../../runtime/api.ts'
import { useErrorText } from '../../runtime/errors.ts'
import { meQuery } from '../../runtime/queries.ts'
import { clearAnswers } from '../../runtime/session.ts'
import { Banner } from '../../ui/Banner.tsx'
import { ButtonLink } from '../../ui/Button.tsx'
import { Form } from '../../ui/form/Form.tsx'
import { PasswordField } from '../../ui/form/PasswordField.tsx'
import { useForm } from '../../ui/form/use-form.ts'
import { Skeleton } from '../../ui/parts.tsx'
import { SpentLink, WaitText } from './LinkSheet.tsx'

export function Recovery() {
  const [code] = useState(codeInHash)
  const [after, setAfter] = useState<RecoveryState>()
  const { t } = useTranslation()
  const errorText = useErrorText()
  const look = useQuery({
    queryKey: ['recovery', code],
    queryFn: () => call('POST /api/auth/recovery/look', { body: { code: code ?? '' } }),
    enabled: code !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
  // Before the question again: completing removes every cached answer, also that of the look.
  if (code !== undefined && after !== undefined) {
    return <RecoverStep code={code} state={after} hours={0} onDone={setAfter} />
  }
  if (code === undefined || isApiRefusal(look.error, 'code_wrong')) return <SpentLink />
  if (look.isError) {
    return (
      <GuestSheet title={t('recovery.title')}>
        <div role="alert">
          <Banner tone="bad">{errorText(look.error)}</Banner>
        </div>
      </GuestSheet>
    )
  }
  if (look.data === undefined) return <Skeleton />
  const { data } = look
  return <RecoverStep code={code} state={data} hours={data.waitHours} onDone={setAfter} />
}

function RecoverStep(props: {
  readonly code: string
  readonly state: RecoveryState
  readonly hours: number
  readonly onDone: (state: RecoveryState) => void
}) {
  const { code, hours, onDone } = props
  const { state, ripeAt } = props.state
  const { t } = useTranslation()
  const format = useFormat()
  if (state === 'done') {
    return (
      <GuestSheet title={t('recovery.doneTitle')} lead={t('recovery.doneText')}>
        <ButtonLink to={paths.signIn} tone="main">
          {t('signIn.submit')}
        </ButtonLink>
      </GuestSheet>
    )
  }
  if (state === 'unconfirmed') {
    return (
      <GuestSheet title={t('recovery.title')} lead={t('errors.recovery_underway')}>
        <ButtonLink to={paths.signIn}>{t('recovery.back')}</ButtonLink>
      </GuestSheet>
    )
  }
  if (state === 'waiting') {
    return (
      <GuestSheet title={t('recovery.waitTitle')} lead={<WaitText ripeAt={ripeAt} />}>
        <ButtonLink to={paths.signIn}>{t('recovery.back')}</ButtonLink>
      </GuestSheet>
    )
  }
  const isRipe = state === 'ripe'
  const lead = isRipe ? t('recovery.ripeText') : t('recovery.text', { hours: format.whole(hours) })
  return (
    <GuestSheet title={isRipe ? t('recovery.ripeTitle') : t('recovery.title')} lead={lead}>
      {!isRipe && <Banner tone="note">{t('recovery.hint')}</Banner>}
      <PasswordStep key={state} code={code} isRipe={isRipe} onDone={onDone} />
    </GuestSheet>
  )
}

function PasswordStep(props: {
  readonly code: string
  readonly isRipe: boolean
  readonly onDone: (state: RecoveryState) => void
}) {
  const { code, isRipe, onDone } = props
  const { t } = useTranslation()
  const client = useQueryClient()
  const form = useForm({
    initial: { password: '' },
    errorFields: { password_wrong: 'password' },
    check: ({ password }) => ({ password: password === '' ? t('field.required') : undefined }),
    async send({ password }) {
      const body = { code, password }
      const after = isRipe
        ? await call('POST /api/auth/recovery/complete', { body })
        : await call('POST /api/auth/recovery/open', { body })
      removeCodeFromHash()
      if (after.state === 'done') {
        // The server has ended every session, also one in this browser.
        client.setQueryData(meQuery.queryKey, null)
        clearAnswers(client)
      }
      onDone(after)
    },
  })
  return (
    <Form form={form} submit={t(isRipe ? 'recovery.complete' : 'recovery.begin')} isWide>
      <PasswordField {...form.text('password')} label={t('signIn.password')} />
    </Form>
  )
}
