// Payments that differ from their order, disputes that the bank has not decided, orders that hang,
// receipts that failed.
import { useTranslation } from 'react-i18next'
import type { Queues } from '../../../src/operator/console/contract/queues.ts'
import { Credits, Moment, Rubles } from '../../ui/amounts.tsx'
import { Badge, Panel } from '../../ui/parts.tsx'
import { TextLink } from '../../ui/TextLink.tsx'
import { paths } from '../paths.ts'
import { useName } from '../use-name.ts'
import { ActionButton, type OpenAction } from './ActionButton.tsx'
import { EvidenceButtons } from './EvidenceButtons.tsx'
import { Queue } from './Queue.tsx'

function OrderLink({ order }: { readonly order: string }) {
  return (
    <TextLink to={paths.search} search={{ text: order }}>
      {order}
    </TextLink>
  )
}

export function Reviews(props: Pick<Queues, 'reviews'> & { readonly act: OpenAction }) {
  const { t } = useTranslation()
  const { reviews, act } = props
  return (
    <Panel title={t('console.queues.reviews', { number: reviews.length })}>
      <Queue
        rows={reviews.map(({ id, reason, hasMoney, amountKopecks, detail, openedAt, order }) => ({
          ...{ id, title: reason, text: detail },
          badge: (
            <Badge tone={hasMoney ? 'warn' : 'note'}>
              {t(hasMoney ? 'console.queues.paid' : 'console.queues.unpaid')}
            </Badge>
          ),
          amount: amountKopecks === null ? null : <Rubles kopecks={amountKopecks} />,
          at: <Moment at={openedAt} isAgo />,
          link: order === null ? null : <OrderLink order={order} />,
          actions: (
            <>
              <ActionButton name="reviewCredit" subject={id} act={act} />
              <ActionButton name="reviewRefund" subject={id} act={act} />
              <ActionButton name="reviewDismiss" subject={id} act={act} />
            </>
          ),
        }))}
      />
    </Panel>
  )
}

export function Disputes(props: Pick<Queues, 'disputes'> & { readonly act: OpenAction }) {
  const { t } = useTranslation()
  const { disputes, act } = props
  return (
    <Panel
      title={t('console.queues.disputes', { number: disputes.length })}
      hint={t('console.queues.disputesHint')}
    >
      <Queue
        rows={disputes.map((dispute) => {
          const { id, order, amountKopecks, reserved, openedAt, answerBy, isOverdue } = dispute
          return {
            ...{ id, title: id },
            badge: isOverdue ? <Badge tone="bad">{t('console.queues.overdue')}</Badge> : null,
            amount: <Rubles kopecks={amountKopecks} />,
            text: (
              <span className="grid gap-1">
                <span className={isOverdue ? 'text-bad' : 'text-ink'}>
                  {t('console.queues.answerBy')} <Moment at={answerBy} />
                </span>
                <span>
                  {t('console.queues.reserved')} <Credits value={reserved} />
                </span>
              </span>
            ),
            at: <Moment at={openedAt} isAgo />,
            link: <OrderLink order={order} />,
            actions: (
              <>
                <EvidenceButtons dispute={id} />
                <ActionButton name="disputeWon" subject={order} act={act} />
                <ActionButton name="disputeLost" subject={order} act={act} />
              </>
            ),
          }
        })}
      />
    </Panel>
  )
}

export function StuckOrders(props: Pick<Queues, 'stuckOrders'> & { readonly act: OpenAction }) {
  const { t } = useTranslation()
  const stateName = useName('orderState')
  const { stuckOrders, act } = props
  return (
    <Panel
      title={t('console.queues.stuckOrders', { number: stuckOrders.length })}
      hint={t('console.queues.stuckOrdersHint')}
    >
      <Queue
        rows={stuckOrders.map(({ id, state, pack, priceKopecks, createdAt, paidAt }) => ({
          ...{ id, title: pack },
          badge: <Badge tone={paidAt === null ? 'note' : 'bad'}>{stateName(state)}</Badge>,
          amount: <Rubles kopecks={priceKopecks} />,
          text:
            paidAt === null ? null : (
              <>
                {t('console.queues.paidAt')} <Moment at={paidAt} />
              </>
            ),
          at: <Moment at={createdAt} isAgo />,
          link: <OrderLink order={id} />,
          actions: <ActionButton name="orderCheck" subject={id} act={act} />,
        }))}
      />
    </Panel>
  )
}

export function Receipts(props: Pick<Queues, 'receipts'> & { readonly act: OpenAction }) {
  const { t } = useTranslation()
  const { receipts, act } = props
  return (
    <Panel
      title={t('console.queues.receipts', { number: receipts.length })}
      hint={t('console.queues.receiptsHint')}
    >
      <Queue
        rows={receipts.map(({ order, kind, email, amountKopecks, creditedAt, error, againAt }) => ({
          ...{ id: `${order} ${kind}`, title: email },
          badge: <Badge tone="warn">{t(`console.queues.receiptKinds.${kind}`)}</Badge>,
          amount: <Rubles kopecks={amountKopecks} />,
          text: (
            <>
              {error !== null && <span className="block wrap-anywhere">{error}</span>}
              {t('console.queues.creditedAt')} <Moment at={creditedAt} />.{' '}
              {againAt === null ? (
                t('console.queues.receiptByHand')
              ) : (
                <>
                  {t('console.queues.receiptAgain')} <Moment at={againAt} />
                </>
              )}
            </>
          ),
          at: <Moment at={creditedAt} isAgo />,
          link: <OrderLink order={order} />,
          actions: (
            <>
              <ActionButton name="orderCheck" subject={order} act={act} />
              <ActionButton name="receiptRetry" subject={order} act={act} />
              <ActionButton name="receiptDismiss" subject={order} act={act} />
            </>
          ),
        }))}
      />
    </Panel>
  )
}
