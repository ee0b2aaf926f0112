// One request: who sent it, how it ended, and the arithmetic of its price, line by line, down to
// the balance before and after.
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import type { PriceLine, RequestDetails } from '../../../src/operator/console/contract/contract.ts'
import { useFormat } from '../../format/use-format.ts'
import { Moment } from '../../ui/amounts.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Page } from '../../ui/Page.tsx'
import { Facts, Panel } from '../../ui/parts.tsx'
import { QueryView } from '../../ui/QueryView.tsx'
import { Table } from '../../ui/Table.tsx'
import { TextLink } from '../../ui/TextLink.tsx'
import { paths } from '../paths.ts'
import { requestQuery } from '../queries.ts'
import { useName } from '../use-name.ts'

export function Request() {
  const { t } = useTranslation()
  const { id } = useParams({ from: '/staff/requests/$id' })
  const request = useQuery(requestQuery(id))
  return (
    <Page
      title={t('console.request.title')}
      lead={
        <span className="inline-flex flex-wrap items-center gap-2">
          <span className="font-mono text-sm wrap-anywhere">{id}</span>
          <CopyButton value={id} />
        </span>
      }
    >
      <QueryView query={request} lines={8}>
        {(found) => (
          <div className="grid gap-6 lg:grid-cols-2">
            <About request={found} />
            <Price request={found} />
          </div>
        )}
      </QueryView>
    </Page>
  )
}

function About({ request }: { readonly request: RequestDetails }) {
  const { t } = useTranslation()
  const format = useFormat()
  const endingName = useName('ending')
  const { book, email, model, ending, reason, vendorRequestId, createdAt, closedAt } = request
  const none = t('console.none')
  return (
    <Panel title={t('console.request.about')}>
      <Facts
        facts={[
          {
            name: t('console.request.account'),
            value: (
              <TextLink to={paths.account} params={{ book }}>
                {email ?? t('console.account.book', { book })}
              </TextLink>
            ),
          },
          { name: t('console.request.model'), value: model },
          {
            name: t('console.request.ending'),
            value: ending === null ? t('console.request.open') : endingName(ending),
          },
          ...(reason === null ? [] : [{ name: t('console.request.reason'), value: reason }]),
          { name: t('console.request.began'), value: <Moment at={createdAt} /> },
          {
            name: t('console.request.ended'),
            value: closedAt === null ? none : <Moment at={closedAt} />,
          },
          {
            name: t('console.request.took'),
            value:
              request.totalMs === null
                ? none
                : t('console.request.ms', { ms: format.whole(String(request.totalMs)) }),
          },
          { name: t('console.request.vendorId'), value: vendorRequestId ?? none },
          { name: t('console.request.session'), value: request.session ?? none },
        ]}
      />
    </Panel>
  )
}

function Price({ request }: { readonly request: RequestDetails }) {
  const { t } = useTranslation()
  const format = useFormat()
  const { charge, held, entry } = request
  if (charge === null) {
    return (
      <Panel title={t('console.request.price')}>
        <Banner>{t('console.request.free')}</Banner>
      </Panel>
    )
  }
  return (
    <Panel
      title={t('console.request.price')}
      hint={t('console.request.priceHint', {
        version: String(charge.catalogueVersion ?? ''),
        list: charge.list === '' ? t('console.request.plainList') : charge.list,
      })}
    >
      <div className="grid gap-5">
        <Lines lines={charge.lines} />
        <Facts
          facts={[
            { name: t('console.request.sum'), value: format.decimal(charge.priced.exact) },
            {
              name: t('console.request.writtenOff'),
              value: format.decimal(charge.writtenOff.exact),
            },
            { name: t('console.request.charged'), value: format.decimal(charge.charged.exact) },
            { name: t('console.request.held'), value: format.decimal(held.exact) },
            {
              name: t('console.request.before'),
              value: format.decimal(charge.balanceBefore.exact),
            },
            { name: t('console.request.after'), value: format.decimal(charge.balanceAfter.exact) },
            { name: t('console.request.entry'), value: entry ?? '' },
          ]}
        />
      </div>
    </Panel>
  )
}

function Lines({ lines }: { readonly lines: readonly PriceLine[] }) {
  const { t } = useTranslation()
  const format = useFormat()
  return (
    <Table
      caption={t('console.request.price')}
      columns={[
        {
          id: 'kind',
          label: t('console.request.kind'),
          isTitle: true,
          cell: (line: PriceLine) => <KindName line={line} />,
        },
        {
          id: 'count',
          label: t('console.request.count'),
          isNumber: true,
          cell: ({ count }) => format.whole(count),
        },
        {
          id: 'each',
          label: t('console.request.each'),
          isNumber: true,
          cell: ({ each }) => `× ${format.decimal(each)}`,
        },
        {
          id: 'credits',
          label: t('console.request.credits'),
          isNumber: true,
          cell: ({ credits }) => `= ${format.decimal(credits.exact)}`,
        },
      ]}
      rows={lines}
      rowId={({ kind, model }) => `${kind} ${model}`}
    />
  )
}

function KindName({ line }: { readonly line: PriceLine }) {
  // A tool has the name that the catalogue gives it.
  const name = useName('tokens')(line.kind)
  return line.model === null ? name : `${name} · ${line.model}`
}
