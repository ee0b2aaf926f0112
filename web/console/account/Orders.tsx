// The orders of an account, newest first, with what was given back, and the buttons that refund
// one, open a dispute about it, or ask the provider about it.
import { Receipt } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { OrderLine, RefundLine } from '../../../src/operator/console/contract/contract.ts'
import { Credits, Moment, Rubles } from '../../ui/amounts.tsx'
import { Badge, type BadgeTone, Empty, Panel } from '../../ui/parts.tsx'
import { type Column, Table } from '../../ui/Table.tsx'
import { type ActionName, actions } from '../command/actions.ts'
import { CommandDialog } from '../command/Command.tsx'
import { ActionButton, type OpenAction } from '../queues/ActionButton.tsx'
import { useName } from '../use-name.ts'

/** States whose unspent part an operator may give back. */
const REFUNDABLE = ['credited', 'partially_refunded', 'dispute_won']
/** States that the provider may know more about. */
const OPEN = ['created', 'pending', 'expired', 'canceled', 'failed', 'refund_pending']

const tones: Readonly<Record<string, BadgeTone>> = {
  ...{ credited: 'good', dispute_won: 'good', review: 'warn', disputed: 'bad' },
  ...{ dispute_lost: 'bad', failed: 'warn', refund_pending: 'warn' },
}

export function Orders(props: {
  readonly orders: readonly OrderLine[]
  readonly refunds: readonly RefundLine[]
}) {
  const { t } = useTranslation()
  const { orders, refunds } = props
  const [open, setOpen] = useState<{ readonly name: ActionName; readonly subject: string }>()
  const columns = useColumns((name, subject) => setOpen({ name, subject }))
  return (
    <Panel title={t('console.account.orders')}>
      {orders.length === 0 ? (
        <Empty icon={Receipt} title={t('console.account.noOrders')} />
      ) : (
        <Table
          caption={t('console.account.orders')}
          isWide
          columns={columns}
          rows={orders}
          rowId={({ id }) => id}
        />
      )}
      {refunds.length > 0 && <Refunds refunds={refunds} />}
      {open !== undefined && (
        <CommandDialog
          action={actions[open.name]}
          subject={open.subject}
          onClose={() => setOpen(undefined)}
        />
      )}
    </Panel>
  )
}

function useColumns(act: OpenAction): Column<OrderLine>[] {
  const { t } = useTranslation()
  const name = useName('orderState')
  return [
    {
      id: 'order',
      label: t('console.account.order'),
      isTitle: true,
      cell: (order) => (
        <span className="grid">
          <span>{order.pack}</span>
          <span className="font-mono text-xs font-normal text-soft wrap-anywhere">{order.id}</span>
        </span>
      ),
    },
    {
      id: 'state',
      label: t('console.account.state'),
      cell: ({ state }) => <Badge tone={tones[state] ?? 'note'}>{name(state)}</Badge>,
    },
    {
      id: 'price',
      label: t('console.account.price'),
      isNumber: true,
      cell: ({ priceKopecks }) => <Rubles kopecks={priceKopecks} />,
    },
    {
      id: 'refunded',
      label: t('console.account.refunded'),
      isNumber: true,
      cell: ({ refundedKopecks }) => <Rubles kopecks={refundedKopecks} />,
    },
    {
      id: 'credits',
      label: t('console.account.credits'),
      isNumber: true,
      cell: ({ credits }) => <Credits value={credits} isShort />,
    },
    {
      id: 'at',
      label: t('console.account.made'),
      cell: ({ createdAt }) => <Moment at={createdAt} />,
    },
    {
      id: 'actions',
      label: t('console.account.actions'),
      isUnlabelled: true,
      cell: ({ id, state, method }) => (
        <span className="flex flex-wrap gap-2">
          {REFUNDABLE.includes(state) && <ActionButton name="refund" subject={id} act={act} />}
          {REFUNDABLE.includes(state) && method === 'card' && (
            <ActionButton name="disputeOpen" subject={id} act={act} />
          )}
          {OPEN.includes(state) && <ActionButton name="orderCheck" subject={id} act={act} />}
        </span>
      ),
    },
  ]
}

function Refunds({ refunds }: { readonly refunds: readonly RefundLine[] }) {
  const { t } = useTranslation()
  const name = useName('refundState')
  return (
    <div className="mt-6 grid gap-3">
      <h3 className="font-semibold">{t('console.account.refunds')}</h3>
      <ul className="grid">
        {refunds.map(({ id, state, amountKopecks, by, reason, createdAt }) => (
          <li
            key={id}
            className="flex flex-wrap items-baseline gap-x-3 border-b border-line py-2
              last:border-0"
          >
            <Badge>{name(state)}</Badge>
            <Rubles kopecks={amountKopecks} />
            <span className="min-w-0 flex-1 basis-40 text-sm text-soft wrap-anywhere">
              {by}
              {reason !== '' && ` · ${reason}`}
            </span>
            <span className="text-sm text-soft">
              <Moment at={createdAt} />
            </span>
          </li>
        ))}
      </ul>
    </div>
  )
}
