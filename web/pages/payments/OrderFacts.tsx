// The details of an order: number, pack, price, times, receipt and refunds.
import { useTranslation } from 'react-i18next'
import type { OrderWithRefunds, Refund } from '../../../src/cabinet/contract/contract.ts'
import { usePhrases } from '../../format/phrases.ts'
import { useMe } from '../../runtime/session.ts'
import { Moment, Rubles } from '../../ui/amounts.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Badge, type BadgeTone, Facts, Panel } from '../../ui/parts.tsx'
import { Table } from '../../ui/Table.tsx'

export function OrderFacts({ order }: { readonly order: OrderWithRefunds }) {
  const { t } = useTranslation()
  const { email } = useMe()
  const phrases = usePhrases()
  const name = (fact: 'pack' | 'sum' | 'method' | 'createdAt' | 'creditedAt' | 'receipt') =>
    t(`order.facts.${fact}`)
  return (
    <Panel title={t('order.facts.title')}>
      <div className="grid gap-4">
        <div className="flex flex-wrap items-center justify-between gap-3">
          <p className="min-w-0">
            <span className="text-soft">{t('order.facts.id')}: </span>
            <code className="break-all">{order.id}</code>
          </p>
          <CopyButton value={order.id} />
        </div>
        <Facts
          facts={[
            { name: name('pack'), value: phrases.credits(order.pack.credits) },
            { name: name('sum'), value: <Rubles kopecks={order.priceKopecks} /> },
            { name: name('method'), value: t(`method.${order.method}`) },
            { name: name('createdAt'), value: <Moment at={order.createdAt} /> },
            ...(order.creditedAt === null
              ? []
              : [{ name: name('creditedAt'), value: <Moment at={order.creditedAt} /> }]),
            ...(order.refundedKopecks === '0'
              ? []
              : [
                  {
                    name: t('order.facts.refunded'),
                    value: <Rubles kopecks={order.refundedKopecks} />,
                  },
                ]),
            ...(order.receipt === null || order.creditedAt === null
              ? []
              : [
                  {
                    name: name('receipt'),
                    value: t(`order.receipt.${order.receipt.state}`, { email }),
                  },
                ]),
          ]}
        />
      </div>
    </Panel>
  )
}

const refundTones: Readonly<Record<Refund['state'], BadgeTone>> = {
  created: 'note',
  pending: 'warn',
  succeeded: 'good',
  canceled: 'bad',
}

export function Refunds({ refunds }: { readonly refunds: readonly Refund[] }) {
  const { t } = useTranslation()
  if (refunds.length === 0) return null
  return (
    <Panel title={t('order.refunds')}>
      <Table
        caption={t('order.refunds')}
        rows={refunds}
        rowId={({ id }) => id}
        columns={[
          {
            id: 'date',
            label: t('refund.date'),
            isTitle: true,
            cell: ({ createdAt }) => <Moment at={createdAt} />,
          },
          {
            id: 'state',
            label: t('refund.state'),
            cell: ({ state }) => (
              <Badge tone={refundTones[state]}>{t(`refund.states.${state}`)}</Badge>
            ),
          },
          {
            id: 'sum',
            label: t('refund.sum'),
            isNumber: true,
            cell: ({ amountKopecks }) => <Rubles kopecks={amountKopecks} />,
          },
        ]}
      />
    </Panel>
  )
}
