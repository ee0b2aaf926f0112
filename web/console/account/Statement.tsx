// The entries of an account, newest first: each changes the balance by its amount, and a charge
// leads to the arithmetic of its request.
import { useInfiniteQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { EntryLine } from '../../../src/operator/console/contract/contract.ts'
import { Credits, Moment } from '../../ui/amounts.tsx'
import { Button } from '../../ui/Button.tsx'
import { Panel } from '../../ui/parts.tsx'
import { QueryView } from '../../ui/QueryView.tsx'
import { Table } from '../../ui/Table.tsx'
import { TextLink } from '../../ui/TextLink.tsx'
import { paths } from '../paths.ts'
import { statementQuery } from '../queries.ts'
import { useName } from '../use-name.ts'

export function Statement({ book }: { readonly book: string }) {
  const { t } = useTranslation()
  const statement = useInfiniteQuery(statementQuery(book))
  return (
    <Panel title={t('console.account.statement')} hint={t('console.account.statementHint')}>
      <QueryView query={statement} lines={6}>
        {({ pages }) => (
          <div className="grid gap-4">
            <Entries entries={pages.flatMap(({ entries }) => entries)} />
            {statement.hasNextPage && (
              <Button
                isSmall
                isPending={statement.isFetchingNextPage}
                onClick={() => void statement.fetchNextPage()}
              >
                {t('console.account.more')}
              </Button>
            )}
          </div>
        )}
      </QueryView>
    </Panel>
  )
}

function Entries({ entries }: { readonly entries: readonly EntryLine[] }) {
  const { t } = useTranslation()
  if (entries.length === 0) return <p className="text-soft">{t('console.account.noEntries')}</p>
  return (
    <Table
      caption={t('console.account.statement')}
      columns={[
        {
          id: 'what',
          label: t('console.account.what'),
          isTitle: true,
          cell: (entry: EntryLine) => <What entry={entry} />,
        },
        {
          id: 'at',
          label: t('console.account.when'),
          cell: ({ at }) => <Moment at={at} />,
        },
        {
          id: 'amount',
          label: t('console.account.amount'),
          isNumber: true,
          cell: ({ amount }) => <Credits value={amount} />,
        },
        {
          id: 'balance',
          label: t('console.account.after'),
          isNumber: true,
          cell: ({ balance }) => <Credits value={balance} />,
        },
      ]}
      rows={entries}
      rowId={({ seq }) => seq}
    />
  )
}

function What({ entry }: { readonly entry: EntryLine }) {
  const { kind, request, model, ending, note, ref } = entry
  const name = useName('entry')(kind)
  const endingName = useName('ending')
  if (request !== null) {
    return (
      <TextLink to={paths.request} params={{ id: request }}>
        {[name, model, ending && endingName(ending)].filter(Boolean).join(' · ')}
      </TextLink>
    )
  }
  return <span>{[name, note || ref].filter(Boolean).join(' · ')}</span>
}
