// Payments that differ from their order, and disputes that the bank has not decided.
import { useTranslation } from 'react-i18next'
import type { Queues } from '../../../src/operator/console/contract/contract.ts'
import { Credits, Moment, Rubles } from '../../ui/amounts.tsx'
import { Badge, Panel } from '../../ui/parts.tsx'
import { TextLink } from '../../ui/TextLink.tsx'
import { paths } from '../paths.ts'
import { ActionButton, type OpenAction } from './ActionButton.tsx'
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
    <Panel title={t('console.queues.disputes', { number: disputes.length })}>
      <Queue
        rows={disputes.map(({ id, order, amountKopecks, reserved, openedAt }) => ({
          ...{ id, title: id, badge: null },
          amount: <Rubles kopecks={amountKopecks} />,
          text: (
            <>
              {t('console.queues.reserved')} <Credits value={reserved} />
            </>
          ),
          at: <Moment at={openedAt} isAgo />,
          link: <OrderLink order={order} />,
          actions: (
            <>
              <ActionButton name="disputeWon" subject={order} act={act} />
              <ActionButton name="disputeLost" subject={order} act={act} />
            </>
          ),
        }))}
      />
    </Panel>
  )
}
