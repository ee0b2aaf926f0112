// Every automatic charge, newest first: credits, amount, status, the mandate it was made under, and
// a link to its order.
import { useTranslation } from 'react-i18next'
import type { TopUpCharge } from '../../../src/cabinet/contract/guards.ts'
import { usePhrases } from '../../format/phrases.ts'
import { useFormat } from '../../format/use-format.ts'
import { paths } from '../../paths.ts'
import { Moment, Rubles } from '../../ui/amounts.tsx'
import { ButtonLink } from '../../ui/Button.tsx'
import { Badge, Panel } from '../../ui/parts.tsx'
import { type Column, Table } from '../../ui/Table.tsx'
import { orderStates } from '../payments/order-states.ts'

export function Charges({ charges }: { readonly charges: readonly TopUpCharge[] }) {
  const { t } = useTranslation()
  const columns = useColumns()
  return (
    <Panel title={t('topUp.charges.title')}>
      {charges.length === 0 ? (
        <p className="text-soft">{t('topUp.charges.none')}</p>
      ) : (
        <Table
          caption={t('topUp.charges.table')}
          isWide
          columns={columns}
          rows={charges}
          rowId={({ order }) => order}
        />
      )}
    </Panel>
  )
}

function useColumns(): readonly Column<TopUpCharge>[] {
  const { t } = useTranslation()
  const phrases = usePhrases()
  const format = useFormat()
  return [
    {
      id: 'credits',
      label: t('topUp.charges.credits'),
      isTitle: true,
      cell: ({ credits }) => (
        <span className="lg:whitespace-nowrap">{phrases.creditsShort(credits)}</span>
      ),
    },
    {
      id: 'date',
      label: t('topUp.charges.date'),
      cell: ({ createdAt, creditedAt }) => (
        <span className="lg:whitespace-nowrap">
          <Moment at={creditedAt ?? createdAt} />
        </span>
      ),
    },
    {
      id: 'state',
      label: t('topUp.charges.state'),
      cell: (charge) => <State charge={charge} />,
    },
    {
      id: 'mandate',
      label: t('topUp.charges.mandate'),
      cell: ({ mandate: id }) =>
        id !== null && (
          <span className="whitespace-nowrap">{t('topUp.charges.mandateValue', { id })}</span>
        ),
    },
    {
      id: 'amount',
      label: t('topUp.charges.amount'),
      isNumber: true,
      cell: ({ priceKopecks }) => <Rubles kopecks={priceKopecks} />,
    },
    {
      id: 'order',
      label: t('topUp.charges.order'),
      isUnlabelled: true,
      cell: ({ order, createdAt }) => (
        <ButtonLink
          to={paths.order}
          params={{ id: order }}
          isSmall
          aria-label={t('topUp.charges.openOf', { date: format.moment(createdAt) })}
        >
          {t('topUp.charges.open')}
        </ButtonLink>
      ),
    },
  ]
}

function State({ charge }: { readonly charge: TopUpCharge }) {
  const { t } = useTranslation()
  const format = useFormat()
  const { state, chargeAfter, refundedKopecks } = charge
  if (chargeAfter !== null) {
    return (
      <span className="grid justify-items-end gap-1 md:justify-items-start">
        <Badge>{t('topUp.charges.planned')}</Badge>
        <span className="text-sm text-soft">
          {t('topUp.charges.plannedText', { moment: format.moment(chargeAfter) })}
        </span>
      </span>
    )
  }
  return (
    <span className="grid justify-items-end gap-1 md:justify-items-start">
      <Badge tone={orderStates[state].tone}>{t(`order.short.${state}`)}</Badge>
      {state === 'partially_refunded' && (
        <span className="text-sm text-soft">
          {t('payments.returned', { rubles: format.rubles(refundedKopecks) })}
        </span>
      )}
    </span>
  )
}
