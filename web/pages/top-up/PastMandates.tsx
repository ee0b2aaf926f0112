// Past mandates, newest first: what was agreed to, from when to when, and why it ended.
import { useTranslation } from 'react-i18next'
import type { Mandate } from '../../../src/cabinet/contract/guards.ts'
import { usePhrases } from '../../format/phrases.ts'
import { useFormat } from '../../format/use-format.ts'
import { Moment } from '../../ui/amounts.tsx'
import { Panel } from '../../ui/parts.tsx'
import { type Column, Table } from '../../ui/Table.tsx'

export function PastMandates({ mandates }: { readonly mandates: readonly Mandate[] }) {
  const { t } = useTranslation()
  const columns = useColumns()
  if (mandates.length === 0) return null
  return (
    <Panel title={t('topUp.past.title')}>
      <Table
        caption={t('topUp.past.table')}
        isWide
        columns={columns}
        rows={mandates}
        rowId={({ id }) => id}
      />
    </Panel>
  )
}

function useColumns(): readonly Column<Mandate>[] {
  const { t } = useTranslation()
  return [
    {
      id: 'number',
      label: t('topUp.charges.mandate'),
      isTitle: true,
      cell: ({ id }) => (
        <span className="whitespace-nowrap">{t('topUp.charges.mandateValue', { id })}</span>
      ),
    },
    { id: 'terms', label: t('topUp.terms'), cell: (mandate) => <Terms mandate={mandate} /> },
    { id: 'given', label: t('topUp.given'), cell: ({ givenAt }) => <Moment at={givenAt} /> },
    {
      id: 'ended',
      label: t('topUp.past.ended'),
      cell: ({ ended }) => ended !== null && <Moment at={ended.at} />,
    },
    {
      id: 'why',
      label: t('topUp.past.why'),
      cell: ({ ended }) => ended !== null && t(`topUp.past.reason.${ended.why}`),
    },
  ]
}

function Terms({ mandate }: { readonly mandate: Mandate }) {
  const { t } = useTranslation()
  const format = useFormat()
  const phrases = usePhrases()
  const { card, credits, priceKopecks, threshold, dayCeilingKopecks, monthCeilingKopecks } = mandate
  const rubles = format.rubles(priceKopecks)
  return (
    <>
      <span className="block">
        {credits === null ? rubles : `${phrases.creditsShort(credits)} · ${rubles}`}
      </span>
      <span className="block text-sm text-soft">
        {`${card}, ${t('topUp.past.below', { threshold: phrases.credits(threshold) })}`}
      </span>
      <span className="block text-sm text-soft">
        {t('topUp.past.limits', {
          day: format.rubles(dayCeilingKopecks),
          month: format.rubles(monthCeilingKopecks),
        })}
      </span>
    </>
  )
}
