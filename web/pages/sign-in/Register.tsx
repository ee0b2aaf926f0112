// Registration: an e-mail address, a password, and an unticked box for each document. The answer is
// the same whether or not the address has an account, so the next page always mentions an e-mail.
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import type { DocumentLink } from '../../../src/cabinet/contract/contract.ts'
import { usePhrases } from '../../format/phrases.ts'
import { GuestSheet } from '../../frame/GuestFrame.tsx'
import { paths } from '../../paths.ts'
import { call } from '../../runtime/api.ts'
import { currentLanguage } from '../../runtime/language.ts'
import { brandQuery } from '../../runtime/queries.ts'
import { Banner } from '../../ui/Banner.tsx'
import { EmailField, looksLikeEmail } from '../../ui/form/EmailField.tsx'
import { Form } from '../../ui/form/Form.tsx'
import { PASSWORD_LENGTH_MIN, PasswordField } from '../../ui/form/PasswordField.tsx'
import { useForm } from '../../ui/form/use-form.ts'
import { QueryView } from '../../ui/QueryView.tsx'
import { TextLink } from '../../ui/TextLink.tsx'
import {
  ConsentBoxes,
  type ConsentValues,
  missingConsents,
  tickedConsents,
  untickedBoxes,
} from './ConsentBoxes.tsx'

export function Register() {
  const { t } = useTranslation()
  const phrases = usePhrases()
  const brand = useQuery(brandQuery)
  return (
    <GuestSheet
      title={t('register.title')}
      lead={t('register.lead')}
      below={
        <p>
          {t('register.known')}{' '}
          <TextLink to={paths.signIn} className="inline-block py-1">
            {t('register.signIn')}
          </TextLink>
        </p>
      }
    >
      <QueryView query={brand} lines={6}>
        {({ documents, trialCredits }) => (
          <div className="grid gap-5">
            {trialCredits !== null && (
              <Banner title={t('register.trial', { credits: phrases.credits(trialCredits) })}>
                {t('register.trialText')}
              </Banner>
            )}
            <RegisterForm documents={documents} />
          </div>
        )}
      </QueryView>
    </GuestSheet>
  )
}

function RegisterForm({ documents }: { readonly documents: readonly DocumentLink[] }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const form = useForm<ConsentValues & { email: string; password: string }>({
    initial: { email: '', password: '', ...untickedBoxes(documents) },
    errorFields: {
      email_wrong: 'email',
      password_too_short: 'password',
      password_too_long: 'password',
      password_common: 'password',
    },
    check: (values) => ({
      email: looksLikeEmail(values.email) ? undefined : t('field.email'),
      password:
        [...values.password].length < PASSWORD_LENGTH_MIN
          ? t('errors.password_too_short')
          : undefined,
      ...missingConsents(documents, values, t('register.consentNeeded')),
    }),
    async send(values) {
      const email = values.email.trim()
      const consents = tickedConsents(documents, values)
      const { password } = values
      const body = { email, password, language: currentLanguage(), consents }
      await call('POST /api/auth/register', { body })
      await navigate({ to: paths.mail, state: { email } })
    },
  })
  return (
    <Form form={form} submit={t('register.submit')} isWide>
      <EmailField {...form.text('email')} label={t('signIn.email')} />
      <PasswordField {...form.text('password')} label={t('signIn.password')} isNew />
      <ConsentBoxes documents={documents} box={form.box} />
    </Form>
  )
}
