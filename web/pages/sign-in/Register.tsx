// Registration: an e-mail address, a password, and an unticked box for each document. The answer is
// the same whether or not the address has an account, so the next page always mentions an e-mail.
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Trans, useTranslation } from 'react-i18next'
import type { DocumentLink } from '../../../src/cabinet/contract/contract.ts'
import { GuestSheet } from '../../frame/GuestFrame.tsx'
import { paths } from '../../paths.ts'
import { call } from '../../runtime/api.ts'
import { currentLanguage } from '../../runtime/language.ts'
import { brandQuery } from '../../runtime/queries.ts'
import { EmailField, looksLikeEmail } from '../../ui/form/EmailField.tsx'
import { CheckField } from '../../ui/form/Field.tsx'
import { Form } from '../../ui/form/Form.tsx'
import { PASSWORD_LENGTH_MIN, PasswordField } from '../../ui/form/PasswordField.tsx'
import { useForm } from '../../ui/form/use-form.ts'
import { QueryView } from '../../ui/QueryView.tsx'
import { TextLink } from '../../ui/TextLink.tsx'

export function Register() {
  const { t } = useTranslation()
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
        {({ documents }) => <RegisterForm documents={documents} />}
      </QueryView>
    </GuestSheet>
  )
}

function RegisterForm({ documents }: { readonly documents: readonly DocumentLink[] }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const boxes = Object.fromEntries(documents.map((one) => [boxOf(one), false]))
  const form = useForm<{ [name: string]: string | boolean; email: string; password: string }>({
    initial: { email: '', password: '', ...boxes },
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
      ...Object.fromEntries(
        documents
          .filter((one) => one.isRequired && values[boxOf(one)] !== true)
          .map((one) => [boxOf(one), t('register.consentNeeded')]),
      ),
    }),
    async send(values) {
      const email = values.email.trim()
      const consents = documents
        .filter((one) => values[boxOf(one)] === true)
        .map(({ document, version }) => ({ document, version }))
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
      {documents.length > 0 && (
        <fieldset className="grid gap-3">
          <legend className="mb-2 font-medium">{t('register.consents')}</legend>
          {documents.map((one) => (
            <CheckField key={one.document} {...form.box(boxOf(one))}>
              <ConsentSentence link={one} />
            </CheckField>
          ))}
        </fieldset>
      )}
    </Form>
  )
}

/** The document opens in a new tab, so that the values of the form are not lost. */
function ConsentSentence({ link }: { readonly link: DocumentLink }) {
  const { t } = useTranslation()
  const { document, isRequired } = link
  return (
    <>
      <Trans
        i18nKey="register.consent"
        values={{ title: link.title[currentLanguage()] }}
        components={{
          a: <TextLink to={paths.document} params={{ document }} target="_blank" />,
        }}
      />
      {!isRequired && <span className="text-soft"> ({t('field.optional')})</span>}
    </>
  )
}

function boxOf({ document }: DocumentLink): string {
  return `consent-${document}`
}
