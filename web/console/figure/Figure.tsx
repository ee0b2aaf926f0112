// The rows that a figure of a day is made of, newest or largest first, with their total. The day is
// in the address, so that a colleague sees the same.
import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import type { FigureRow, FigureRows } from '../../../src/operator/console/contract/queues.ts'
import { useFormat } from '../../format/use-format.ts'
import { Moment } from '../../ui/amounts.tsx'
import { Button } from '../../ui/Button.tsx'
import { TextField } from '../../ui/form/Field.tsx'
import { Page } from '../../ui/Page.tsx'
import { Facts, Panel } from '../../ui/parts.tsx'
import { QueryView } from '../../ui/QueryView.tsx'
import { type Column, Table } from '../../ui/Table.tsx'
import { TextLink } from '../../ui/TextLink.tsx'
import { paths } from '../paths.ts'
import { figureRowsQuery } from '../queries.ts'
import { useFigureText } from '../today/figures.tsx'
import { useName } from '../use-name.ts'

export function Figure() {
  const { t, i18n } = useTranslation()
  const { name } = useParams({ from: '/staff/figures/$name' })
  const { day } = useSearch({ from: '/staff/figures/$name' })
  const navigate = useNavigate()
  const rows = useInfiniteQuery(figureRowsQuery(name, day))
  const [first] = rows.data?.pages ?? []
  const key = `console.today.figure.${name}`
  return (
    <Page
      title={i18n.exists(key) ? t(key as 'console.today.figure.taken') : name}
      lead={first === undefined ? undefined : <Lead page={first} />}
      actions={<TextLink to={paths.today}>{t('console.figureRows.back')}</TextLink>}
    >
      {first !== undefined && first.kind !== 'book' && first.kind !== 'review' && (
        <div className="max-w-60">
          <TextField
            type="date"
            label={t('console.figureRows.day')}
            value={day ?? first.day}
            onChange={(value) =>
              void navigate({
                ...{ to: paths.figure, params: { name } },
                search: value === '' ? {} : { day: value },
              })
            }
          />
        </div>
      )}
      <QueryView query={rows} lines={8}>
        {({ pages }) => (
          <Panel>
            <Rows pages={pages} />
            {rows.hasNextPage && (
              <div className="mt-4">
                <Button
                  isSmall
                  isPending={rows.isFetchingNextPage}
                  onClick={() => void rows.fetchNextPage()}
                >
                  {t('console.account.more')}
                </Button>
              </div>
            )}
          </Panel>
        )}
      </QueryView>
    </Page>
  )
}

function Lead({ page }: { readonly page: FigureRows }) {
  const { t } = useTranslation()
  if (page.kind === 'book' || page.kind === 'review') return t('console.figureRows.leadNow')
  return t('console.figureRows.lead', { zone: page.timeZone })
}

function Rows({ pages }: { readonly pages: readonly FigureRows[] }) {
  const { t } = useTranslation()
  const format = useFormat()
  const figureText = useFigureText()
  const columns = useColumns(pages[0])
  const [first] = pages
  if (first === undefined) return null
  const { name, unit, total, count } = first
  return (
    <div className="grid gap-6">
      <Facts
        facts={[
          ...(total === null
            ? []
            : [
                {
                  name: t('console.figureRows.total'),
                  value: <strong>{figureText({ name, unit, value: total })}</strong>,
                },
              ]),
          { name: t('console.figureRows.count'), value: format.whole(count) },
        ]}
      />
      {first.rows.length === 0 ? (
        <p className="text-soft">{t('console.figureRows.none')}</p>
      ) : (
        <Table
          caption={t('console.figureRows.what')}
          columns={columns}
          rows={pages.flatMap(({ rows }) => rows)}
          rowId={({ id, book, text }) => `${id} ${book} ${text}`}
        />
      )}
    </div>
  )
}

function useColumns(page: FigureRows | undefined): Column<FigureRow>[] {
  const { t } = useTranslation()
  const text = useFigureText()
  const state = useStateName(page)
  if (page === undefined) return []
  const { name, unit, kind } = page
  const isCount = name === 'requests' || name === 'errors'
  const columns: (Column<FigureRow> | false)[] = [
    {
      id: 'what',
      label: t('console.figureRows.what'),
      isTitle: true,
      cell: (row) => <What row={row} kind={kind} />,
    },
    kind !== 'lot' &&
      kind !== 'book' &&
      kind !== 'review' && {
        id: 'state',
        label: t('console.figureRows.state'),
        cell: (row) => state(row.state ?? ''),
      },
    kind !== 'book' && {
      id: 'account',
      label: t('console.figureRows.account'),
      cell: ({ book }) => (book === null ? null : <BookLink book={book} />),
    },
    kind !== 'book' && {
      id: 'at',
      label: t('console.figureRows.when'),
      cell: ({ at }) => (at === null ? null : <Moment at={at} />),
    },
    !isCount && {
      id: 'amount',
      label: t('console.figureRows.amount'),
      isNumber: true,
      cell: ({ amount }) => text({ name, unit, value: amount }),
    },
  ]
  return columns.filter((one) => one !== false)
}

function useStateName(page: FigureRows | undefined): (code: string) => string {
  const [order, refund, ending] = [useName('orderState'), useName('refundState'), useName('ending')]
  if (page?.kind === 'refund') return refund
  if (page?.kind === 'dispute') return (code) => order(`dispute_${code}`)
  return page?.kind === 'request' ? ending : order
}

function BookLink({ book }: { readonly book: string }) {
  const { t } = useTranslation()
  return (
    <TextLink to={paths.account} params={{ book }}>
      {t('console.account.book', { book })}
    </TextLink>
  )
}

/** What the row is, with its id as a link to where it is shown whole. */
function What(props: { readonly row: FigureRow; readonly kind: FigureRows['kind'] }) {
  const { row, kind } = props
  const { t, i18n } = useTranslation()
  if (kind === 'book') return <BookLink book={row.id} />
  const key = `console.figureRows.lot.${row.text}`
  const name =
    kind === 'lot' && i18n.exists(key) ? t(key as 'console.figureRows.lot.paid') : row.text
  return (
    <span className="grid">
      <span>{name}</span>
      <span className="font-mono text-xs font-normal wrap-anywhere">
        {kind === 'request' ? (
          <TextLink to={paths.request} params={{ id: row.id }}>
            {row.id}
          </TextLink>
        ) : isSearchable(row.id) ? (
          <TextLink to={paths.search} search={{ text: row.id }}>
            {row.id}
          </TextLink>
        ) : (
          row.id
        )}
      </span>
    </span>
  )
}

/** Ids of orders, refunds, disputes and payments; the reference of a gift is no id. */
function isSearchable(id: string): boolean {
  return /^(?:pay|rfd|dsp)_[0-9a-f]{32}$|^[0-9a-f-]{36}$/.test(id)
}
