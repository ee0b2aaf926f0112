// One runbook: the section of the documentation that says what to do about an alarm.
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { Markdown } from '../../ui/markdown/Markdown.tsx'
import { Page } from '../../ui/Page.tsx'
import { QueryView } from '../../ui/QueryView.tsx'
import { TextLink } from '../../ui/TextLink.tsx'
import { paths } from '../paths.ts'
import { documentQuery } from './runbooks.ts'
import { findSection } from './sections.ts'

export function Runbook() {
  const { t } = useTranslation()
  const { document, section } = useParams({ from: '/staff/runbooks/$document/$section' })
  const query = useQuery(documentQuery(document))
  const found = query.data === undefined ? undefined : findSection(query.data, section)
  return (
    <Page
      key={section}
      title={found?.title ?? t('console.alarms.runbook')}
      lead={<TextLink to={paths.alarms}>{t('console.alarms.back')}</TextLink>}
    >
      <QueryView query={query} lines={12}>
        {() =>
          found === undefined ? (
            <p>{t('console.alarms.noSection')}</p>
          ) : (
            <article
              lang="en"
              className="min-w-0 max-w-4xl rounded-box border border-line bg-sheet p-5 sm:p-8"
            >
              <Markdown blocks={found.blocks} />
            </article>
          )
        }
      </QueryView>
    </Page>
  )
}
