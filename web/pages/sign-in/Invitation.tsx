// Makes the account of an invited person: the code from the e-mail, a password chosen now, and the
// documents.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { DocumentLink } from '../../../src/cabinet/contract/contract.ts'
import { codeInHash, removeCodeFromHash } from '../../account/hash-code.ts'
import { GuestSheet } from '../../frame/GuestFrame.tsx'
import { paths } from '../../paths.ts'
import { call, isApiRefusal } from '../../runtime/api.ts'
import { brandQuery } from '../../runtime/queries.ts'
import { useFinishSignIn } from '../../runtime/session.ts'
import { ButtonLink } from '../../ui/Button.tsx'
import { Form } from '../../ui/form/Form.tsx'
import { PASSWORD_LENGTH_MIN, PasswordField } from '../../ui/form/PasswordField.tsx'
import { useForm } from '../../ui/form/use-form.ts'
import { QueryView } from '../../ui/QueryView.tsx'
import {
  ConsentBoxes,
  type ConsentValues,
  missingConsents,
  tickedConsents,
  untickedBoxes,
} from './ConsentBoxes.tsx'

export function Invitation() {
  const { t } = useTranslation()
  const brand = useQuery(brandQuery)
  const [code] = useState(codeInHash)
  const [isCodeUsed, setCodeUsed] = useState(false)
  if (code === undefined || isCodeUsed) {
    return (
      <GuestSheet title={t('confirm.spentTitle')} lead={t('invitation.spentText')}>
        <div className="grid gap-3">
          <ButtonLink to={paths.signIn} tone="main">
            {t('signIn.submit')}
          </ButtonLink>
          <ButtonLink to={paths.mail}>{t('mail.again')}</ButtonLink>
        </div>
      </GuestSheet>
    )
  }
  return (
    <GuestSheet title={t('invitation.title')} lead={t('invitation.text')}>
      <QueryView query={brand} lines={6}>
        {({ documents }) => (
          <InvitationForm code={code} documents={documents} onCodeUsed={() => setCodeUsed(true)} />
        )}
      </QueryView>
    </GuestSheet>
  )
}

function InvitationForm(props: {
  readonly code: string
  readonly documents: readonly DocumentLink[]
  readonly onCodeUsed: () => void
}) {
  const { code, documents, onCodeUsed } = props
  const { t } = useTranslation()
  const finishSignIn = useFinishSignIn()
  const form = useForm<ConsentValues & { password: string }>({
    initial: { password: '', ...untickedBoxes(documents) },
    errorFields: {
      password_too_short: 'password',
      password_too_long: 'password',
      password_common: 'password',
    },
    check: (values) => ({
      password:
        [...values.password].length < PASSWORD_LENGTH_MIN
          ? t('errors.password_too_short')
          : undefined,
      ...missingConsents(documents, values, t('register.consentNeeded')),
    }),
    async send(values) {
      const { password } = values
      const body = { code, password, consents: tickedConsents(documents, values) }
      try {
        await call('POST /api/auth/invitation', { body })
      } catch (error) {
        if (isApiRefusal(error, 'code_wrong')) return onCodeUsed()
        throw error
      }
      removeCodeFromHash()
      await finishSignIn()
    },
  })
  return (
    <Form form={form} submit={t('invitation.submit')} isWide>
      <PasswordField {...form.text('password')} label={t('signIn.password')} isNew />
      <ConsentBoxes documents={documents} box={form.box} />
    </Form>
  )
}
