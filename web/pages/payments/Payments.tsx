// All purchases, newest first: pack, price, state and a link to the order. Older ones load page by
// page, without a time limit.
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { ReceiptText } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { OrderWithUnspent as Order } from '../../../src/cabinet/contract/contract.ts'
import { usePhrases } from '../../format/phrases.ts'
import { useFormat } from '../../format/use-format.ts'
import { paths } from '../../paths.ts'
import { useErrorText } from '../../runtime/errors.ts'
import { brandQuery, ordersQuery, topUpQuery } from '../../runtime/queries.ts'
import { useMe } from '../../runtime/session.ts'
import { Moment, Rubles } from '../../ui/amounts.tsx'
import { Banner } from '../../ui/Banner.tsx'
import { Button, ButtonLink } from '../../ui/Button.tsx'
import { Page } from '../../ui/Page.tsx'
import { Badge, Empty, Panel, PanelSkeletons } from '../../ui/parts.tsx'
import { type Column, Table } from '../../ui/Table.tsx'
import { canRefund, orderStates, stateWords } from './order-states.ts'
import { PromoForm } from './PromoForm.tsx'
import { RefundDialog } from './RefundDialog.tsx'

export function Payments() {
  const { t } = useTranslation()
  const errorText = useErrorText()
  const query = useInfiniteQuery(ordersQuery)
  const orders = query.data?.pages.flatMap((page) => page.orders)
  return (
    <Page title={t('payments.title')} lead={t('payments.lead')} actions={<TopUpLink />}>
      {orders === undefined && query.isError && (
        <Banner
          tone="bad"
          actions={
            <Button isSmall isPending={query.isFetching} onClick={() => void query.refetch()}>
              {t('action.again')}
            </Button>
          }
        >
          {errorText(query.error)}
        </Banner>
      )}
      {orders === undefined && !query.isError && <PanelSkeletons lines={[8]} />}
      {orders?.length === 0 && (
        <Panel>
          <Empty
            icon={ReceiptText}
            title={t('payments.none')}
            text={t('payments.noneText')}
            action={
              <ButtonLink to={paths.packs} tone="main">
                {t('payments.buy')}
              </ButtonLink>
            }
          />
        </Panel>
      )}
      {orders !== undefined && orders.length > 0 && (
        <Panel>
          <History orders={orders} />
          {query.hasNextPage && (
            <div className="mt-4 flex justify-center">
              <Button
                isPending={query.isFetchingNextPage}
                onClick={() => void query.fetchNextPage()}
              >
                {t('payments.more')}
              </Button>
            </div>
          )}
          <p role="status" className="sr-only">
            {query.data !== undefined && query.data.pages.length > 1
              ? t('payments.loadedMore', { count: orders.length })
              : ''}
          </p>
        </Panel>
      )}
      <PromoForm />
    </Page>
  )
}

/** Renders nothing if the operator does not offer top-ups. */
function TopUpLink() {
  const { t } = useTranslation()
  const { data: topUp } = useQuery(topUpQuery)
  if (topUp?.isOffered !== true) return null
  return <ButtonLink to={paths.topUp}>{t('topUp.title')}</ButtonLink>
}

function History({ orders }: { readonly orders: readonly Order[] }) {
  const { t } = useTranslation()
  const { email } = useMe()
  const [refunding, setRefunding] = useState<Order>()
  const columns = useColumns(setRefunding)
  const hasReceipts = orders.some(({ receipt }) => receipt !== null)
  return (
    <>
      <Table
        caption={t('payments.table')}
        columns={columns}
        rows={orders}
        rowId={({ id }) => id}
        isWide
      />
      {hasReceipts && <p className="mt-4 text-sm text-soft">{t('payments.receipts', { email })}</p>}
      {refunding !== undefined && (
        <RefundDialog order={refunding} isOpen onClose={() => setRefunding(undefined)} />
      )}
    </>
  )
}

/** Between `md` and `lg` words wrap whole: six columns have room for that, and not for lines. */
function useColumns(onRefund: (order: Order) => void): readonly Column<Order>[] {
  const { t } = useTranslation()
  const phrases = usePhrases()
  return [
    {
      id: 'pack',
      label: t('payments.pack'),
      isTitle: true,
      cell: ({ pack }) => (
        <span className="md:wrap-normal lg:whitespace-nowrap">
          {phrases.creditsShort(pack.credits)}
        </span>
      ),
    },
    {
      id: 'date',
      label: t('payments.date'),
      cell: ({ createdAt }) => (
        <span className="md:wrap-normal lg:whitespace-nowrap">
          <Moment at={createdAt} />
        </span>
      ),
    },
    {
      id: 'method',
      label: t('payments.method'),
      cell: ({ method, isTopUp }) => (
        <>
          {t(`method.${method}Short`)}
          {isTopUp && <span className="block text-sm text-soft">{t('topUp.mark')}</span>}
        </>
      ),
    },
    { id: 'state', label: t('payments.state'), cell: (order) => <State order={order} /> },
    {
      id: 'sum',
      label: t('payments.sum'),
      isNumber: true,
      cell: ({ priceKopecks }) => <Rubles kopecks={priceKopecks} />,
    },
    {
      id: 'actions',
      label: t('payments.actions'),
      isUnlabelled: true,
      cell: (order) => <RowActions order={order} onRefund={() => onRefund(order)} />,
    },
  ]
}

function State({ order }: { readonly order: Order }) {
  const { t } = useTranslation()
  const format = useFormat()
  const { state, refundedKopecks, receipt } = order
  const shown = stateWords(order)
  return (
    <span className="grid justify-items-end gap-1 md:justify-items-start">
      <Badge tone={shown === 'spent' ? 'note' : orderStates[state].tone}>
        {t(`order.short.${shown}`)}
      </Badge>
      {state === 'partially_refunded' && (
        <span className="text-sm text-soft">
          {t('payments.returned', { rubles: format.rubles(refundedKopecks) })}
        </span>
      )}
      {receipt !== null && receipt.state !== 'succeeded' && orderStates[state].stage === 3 && (
        <span className="text-sm text-soft">{t(`order.receiptShort.${receipt.state}`)}</span>
      )}
    </span>
  )
}

function RowActions(props: { readonly order: Order; readonly onRefund: () => void }) {
  const { order, onRefund } = props
  const { t } = useTranslation()
  const format = useFormat()
  const { data: brand } = useQuery(brandQuery)
  const about = (action: string) =>
    t('payments.about', { action, date: format.moment(order.createdAt) })
  const isPayable = order.state === 'pending' && !order.isTopUp
  const action = isPayable ? t('order.pay') : t('payments.open')
  const isRefundOffered = canRefund(order) && brand?.refundPolicy !== 'none'
  return (
    <div className="flex flex-wrap gap-2 md:justify-end lg:flex-nowrap lg:whitespace-nowrap">
      {isRefundOffered && (
        <Button isSmall tone="quiet" aria-label={about(t('refund.action'))} onClick={onRefund}>
          {t('refund.action')}
        </Button>
      )}
      <ButtonLink
        to={paths.order}
        params={{ id: order.id }}
        isSmall
        tone={isPayable ? 'main' : 'plain'}
        aria-label={about(action)}
      >
        {action}
      </ButtonLink>
    </div>
  )
}
