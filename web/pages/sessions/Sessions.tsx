// The page of agent sessions: the list, or the session that the address names. It follows the
// requests as they arrive.
import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Layers } from 'lucide-react'
import type { ReactNode } from 'react'
import { Trans, useTranslation } from 'react-i18next'
import type { SessionKind, UsageSessions } from '../../../src/cabinet/contract/sessions.ts'
import { UsageTabs } from '../../frame/UsageTabs.tsx'
import { paths } from '../../paths.ts'
import { usageSessionsQuery } from '../../runtime/queries.ts'
import { useTick } from '../../runtime/tick.ts'
import { Button } from '../../ui/Button.tsx'
import { SelectField } from '../../ui/form/Field.tsx'
import { Page } from '../../ui/Page.tsx'
import { Empty, Panel } from '../../ui/parts.tsx'
import { QueryView } from '../../ui/QueryView.tsx'
import { OneSession } from './OneSession.tsx'
import { SessionsTable } from './SessionsTable.tsx'
import { searchOf } from './search.ts'

export function Sessions() {
  const { kind = 'session', id } = useSearch({ from: '/owner/sessions' })
  return id === undefined ? <List kind={kind} /> : <OneSession key={id} kind={kind} id={id} />
}

function List({ kind }: { readonly kind: SessionKind }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  useTick()
  const query = useInfiniteQuery(usageSessionsQuery(kind))
  return (
    <Page title={t('sessions.title')} lead={t('sessions.lead')}>
      <UsageTabs />
      <Panel>
        <div className="mb-4 max-w-60">
          <SelectField
            label={t('sessions.kind')}
            value={kind}
            onChange={(value) =>
              void navigate({ to: paths.sessions, search: searchOf(value as SessionKind) })
            }
            options={[
              { value: 'session', label: t('sessions.bySession') },
              { value: 'label', label: t('sessions.byLabel') },
            ]}
          />
        </div>
        <QueryView query={query} lines={6}>
          {({ pages }) => (
            <Lines
              kind={kind}
              pages={pages}
              more={
                query.hasNextPage && (
                  <Button
                    isPending={query.isFetchingNextPage}
                    onClick={() => void query.fetchNextPage()}
                  >
                    {t('sessions.more')}
                  </Button>
                )
              }
            />
          )}
        </QueryView>
      </Panel>
    </Page>
  )
}

function Lines(props: {
  readonly kind: SessionKind
  readonly pages: readonly UsageSessions[]
  readonly more: ReactNode
}) {
  const { kind, pages, more } = props
  const { t } = useTranslation()
  const lines = pages.flatMap((page) => page.lines)
  const keptDays = pages[0]?.keptDays ?? 0
  if (lines.length === 0) {
    const isLabel = kind === 'label'
    return (
      <Empty
        icon={Layers}
        title={t(isLabel ? 'sessions.noneLabel' : 'sessions.none')}
        text={
          isLabel ? (
            <Trans i18nKey="sessions.noneLabelText" components={{ code: <code /> }} />
          ) : (
            t('sessions.noneText')
          )
        }
      />
    )
  }
  return (
    <>
      <SessionsTable kind={kind} lines={lines} />
      <div className="mt-4 flex justify-center empty:hidden">{more}</div>
      <p className="mt-4 text-sm text-soft">{t('sessions.kept', { count: keptDays })}</p>
    </>
  )
}
