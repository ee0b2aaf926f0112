// What operators did, in terminal and console, newest first.
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { Page } from '../../ui/Page.tsx'
import { Panel } from '../../ui/parts.tsx'
import { QueryView } from '../../ui/QueryView.tsx'
import { actsQuery } from '../queries.ts'
import { ActList } from './ActList.tsx'

export function Acts() {
  const { t } = useTranslation()
  return (
    <Page title={t('console.acts.title')} lead={t('console.acts.lead')}>
      <Panel>
        <QueryView query={useQuery(actsQuery)} lines={8}>
          {({ acts }) => <ActList acts={acts} />}
        </QueryView>
      </Panel>
    </Page>
  )
}
