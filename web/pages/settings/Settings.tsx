// The general settings: e-mail address, e-mails that can be switched off, language, theme and time
// zone.

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Trans, useTranslation } from 'react-i18next'
import { SettingsTabs } from '../../account/SettingsTabs.tsx'
import { useStepUp } from '../../account/StepUp.tsx'
import { ZoneField } from '../../account/ZoneField.tsx'
import { useFormat } from '../../format/use-format.ts'
import { call } from '../../runtime/api.ts'
import { currentLanguage } from '../../runtime/language.ts'
import { type Language, languages } from '../../runtime/preferences.ts'
import { meQuery } from '../../runtime/queries.ts'
import { useChooseLanguage, useMe } from '../../runtime/session.ts'
import { chooseTheme, type Theme, themes, useTheme } from '../../runtime/theme.ts'
import { Banner } from '../../ui/Banner.tsx'
import { EmailField, looksLikeEmail } from '../../ui/form/EmailField.tsx'
import { CheckField, SelectField } from '../../ui/form/Field.tsx'
import { Form } from '../../ui/form/Form.tsx'
import { useForm } from '../../ui/form/use-form.ts'
import { Page } from '../../ui/Page.tsx'
import { Column, Columns, Panel } from '../../ui/parts.tsx'
import { useErrorToast, useToast } from '../../ui/Toasts.tsx'

export function Settings() {
  const { t } = useTranslation()
  return (
    <Page title={t('nav.settings')}>
      <SettingsTabs />
      <Columns>
        <Column>
          <EmailPanel />
          <SummaryPanel />
        </Column>
        <Panel title={t('settings.look')}>
          <div className="grid gap-5 sm:grid-cols-2">
            <LanguageField />
            <ThemeField />
            <div className="sm:col-span-2">
              <ZoneField />
            </div>
          </div>
        </Panel>
      </Columns>
    </Page>
  )
}

function EmailPanel() {
  const { t } = useTranslation()
  const { email, emailChange } = useMe()
  const format = useFormat()
  const withStepUp = useStepUp()
  const [sentTo, setSentTo] = useState<string>()
  const form = useForm({
    initial: { newEmail: '' },
    errorFields: { email_wrong: 'newEmail' },
    check: ({ newEmail }) => ({
      newEmail: looksLikeEmail(newEmail) ? undefined : t('field.email'),
    }),
    async send(values) {
      const newEmail = values.newEmail.trim()
      await withStepUp(() => call('POST /api/auth/email/change', { body: { newEmail } }))
      setSentTo(newEmail)
    },
  })
  return (
    <Panel
      title={t('settings.email')}
      hint={
        <Trans
          i18nKey="settings.emailNow"
          values={{ email }}
          components={{ b: <strong className="wrap-anywhere text-ink" /> }}
        />
      }
    >
      {emailChange !== null ? (
        <Banner title={t('settings.emailRecentTitle')}>
          {t('settings.emailRecent', {
            email: emailChange.oldEmail,
            time: format.moment(emailChange.undoUntil),
          })}
        </Banner>
      ) : sentTo === undefined ? (
        <Form form={form} submit={t('settings.emailSubmit')} tone="plain">
          <EmailField
            {...form.text('newEmail')}
            label={t('settings.emailNew')}
            hint={t('settings.emailHint')}
          />
        </Form>
      ) : (
        <div role="status">
          <Banner tone="good" title={t('settings.emailSentTitle')}>
            {t('settings.emailSent', { email: sentTo })}
          </Banner>
        </div>
      )}
    </Panel>
  )
}

function SummaryPanel() {
  const { t } = useTranslation()
  const { hasSummaries } = useMe()
  const client = useQueryClient()
  const toast = useToast()
  const showError = useErrorToast()
  const save = useMutation({
    mutationFn: (isOn: boolean) => call('POST /api/me/summaries', { body: { isOn } }),
    async onSuccess() {
      await client.invalidateQueries({ queryKey: meQuery.queryKey })
      toast(t('settings.saved'))
    },
    onError: showError,
  })
  return (
    <Panel title={t('settings.summary')}>
      <CheckField
        isChecked={save.isPending ? save.variables : hasSummaries}
        onChange={(isOn) => save.mutate(isOn)}
        hint={t('settings.summaryHint')}
      >
        {t('settings.summaryLabel')}
      </CheckField>
    </Panel>
  )
}

function LanguageField() {
  const { t } = useTranslation()
  const choose = useChooseLanguage()
  const toast = useToast()
  const showError = useErrorToast()
  const save = async (language: Language) => {
    await choose(language)
    toast(t('settings.saved', { lng: language }))
  }
  return (
    <SelectField
      label={t('menu.language')}
      hint={t('settings.languageHint')}
      value={currentLanguage()}
      onChange={(value) => void save(value as Language).catch(showError)}
      options={languages.map((value) => ({ value, label: t(`language.${value}`) }))}
    />
  )
}

function ThemeField() {
  const { t } = useTranslation()
  return (
    <SelectField
      label={t('menu.theme')}
      hint={t('settings.themeHint')}
      value={useTheme()}
      onChange={(value) => chooseTheme(value as Theme)}
      options={themes.map((value) => ({ value, label: t(`theme.${value}`) }))}
    />
  )
}
