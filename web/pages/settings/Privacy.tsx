// The privacy settings: consents, an export of all data, and closing the account.
import { useMutation, useQuery } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import type { Brand, Consents } from '../../../src/cabinet/contract/contract.ts'
import { ClosePanel } from '../../account/ClosePanel.tsx'
import { useAgree } from '../../account/ConsentBanner.tsx'
import { SettingsTabs } from '../../account/SettingsTabs.tsx'
import { useStepUp } from '../../account/StepUp.tsx'
import { paths } from '../../paths.ts'
import { call } from '../../runtime/api.ts'
import { currentLanguage } from '../../runtime/language.ts'
import { brandQuery, consentsQuery } from '../../runtime/queries.ts'
import { saveFile } from '../../runtime/save-file.ts'
import { Moment } from '../../ui/amounts.tsx'
import { Button } from '../../ui/Button.tsx'
import { Page } from '../../ui/Page.tsx'
import { Column, Columns, Panel } from '../../ui/parts.tsx'
import { QueryView } from '../../ui/QueryView.tsx'
import { TextLink } from '../../ui/TextLink.tsx'
import { useErrorToast } from '../../ui/Toasts.tsx'

export function Privacy() {
  const { t } = useTranslation()
  return (
    <Page title={t('nav.settings')}>
      <SettingsTabs />
      <Columns>
        <Column>
          <ConsentsPanel />
          <ExportPanel />
        </Column>
        <ClosePanel />
      </Columns>
    </Page>
  )
}

function ConsentsPanel() {
  const { t } = useTranslation()
  const { data: brand } = useQuery(brandQuery)
  const query = useQuery(consentsQuery)
  return (
    <Panel title={t('privacy.consents')} hint={t('privacy.consentsHint')}>
      <QueryView query={query} lines={2}>
        {(consents) => <ConsentList consents={consents} documents={brand?.documents ?? []} />}
      </QueryView>
    </Panel>
  )
}

function ConsentList(props: {
  readonly consents: Consents
  readonly documents: Brand['documents']
}) {
  const { t } = useTranslation()
  const { consents, documents } = props
  const agree = useAgree()
  const language = currentLanguage()
  const titleOf = (name: string) =>
    documents.find(({ document }) => document === name)?.title[language] ?? name
  if (consents.given.length + consents.outstanding.length === 0) {
    return <p className="text-soft">{t('privacy.noConsents')}</p>
  }
  return (
    <ul className="grid">
      {consents.given.map(({ document, version, acceptedAt }) => (
        <li key={`${document} ${version}`} className="border-b border-line py-2.5 last:border-0">
          <TextLink to={paths.document} params={{ document }}>
            {titleOf(document)}
          </TextLink>
          <p className="text-sm text-soft">
            {t('document.version', { version })} · <Moment at={acceptedAt} />
          </p>
        </li>
      ))}
      {consents.outstanding.map((one) => (
        <li
          key={`${one.document} ${one.version}`}
          className="flex flex-wrap items-center justify-between gap-3 border-b border-line py-2.5
            last:border-0"
        >
          <div>
            <TextLink to={paths.document} params={{ document: one.document }}>
              {one.title[language]}
            </TextLink>
            <p className="text-sm text-soft">{t('privacy.notGiven')}</p>
          </div>
          <Button isSmall isPending={agree.isPending} onClick={() => agree.mutate(one)}>
            {t('consent.agree')}
          </Button>
        </li>
      ))}
    </ul>
  )
}

function ExportPanel() {
  const { t } = useTranslation()
  const withStepUp = useStepUp()
  const showError = useErrorToast()
  const copy = useMutation({
    mutationFn: () => withStepUp(() => call('GET /api/export')),
    onSuccess: (everything) =>
      saveFile('account.json', `${JSON.stringify(everything, null, 2)}\n`, 'application/json'),
    onError: showError,
  })
  return (
    <Panel title={t('privacy.export')} hint={t('privacy.exportHint')}>
      <Button icon={Download} isPending={copy.isPending} onClick={() => copy.mutate()}>
        {t('privacy.exportSubmit')}
      </Button>
    </Panel>
  )
}
