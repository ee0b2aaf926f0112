// What a token of each model costs, in credits: everything that a charge is made from.
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { ModelPrice } from '../../../src/cabinet/contract/contract.ts'
import { pricesAsk } from '../../runtime/asks.ts'
import { NARROW, useMedia } from '../../runtime/media.ts'
import { Asked } from '../../ui/Asked.tsx'
import { Panel } from '../../ui/parts.tsx'
import { type Column, Table } from '../../ui/Table.tsx'

/** `isOpen`: the prices are what one came for, also on a phone. */
export function ModelPrices({ isOpen = false }: { readonly isOpen?: boolean }) {
  const { t, i18n } = useTranslation()
  const query = useQuery(pricesAsk)
  const isNarrow = useMedia(NARROW)
  // Exact decimal text: only its mark differs by language.
  const decimal = (text: string) => (i18n.language === 'ru' ? text.replace('.', ',') : text)
  const priced = (id: 'output' | 'cacheRead' | 'cacheWrite5m' | 'cacheWrite1h') => ({
    id,
    label: t(`packs.${id}`),
    isNumber: true,
    cell: ({ coefficient, weights }: ModelPrice) =>
      decimal(id === 'output' ? coefficient : weights[id]),
  })
  const columns: readonly Column<ModelPrice>[] = [
    {
      id: 'model',
      label: t('packs.model'),
      isTitle: true,
      cell: ({ id, name }) => (
        <>
          {name}
          <code className="block text-sm font-normal break-all text-soft">{id}</code>
        </>
      ),
    },
    { id: 'input', label: t('packs.input'), isNumber: true, cell: () => '1' },
    priced('output'),
    priced('cacheRead'),
    priced('cacheWrite5m'),
    priced('cacheWrite1h'),
  ]
  return (
    <Panel title={t('packs.prices')} hint={t('packs.pricesHint')}>
      <Asked query={query}>
        {({ models }) => {
          const table = (
            <Table
              caption={t('packs.prices')}
              columns={columns}
              rows={models}
              rowId={({ id }) => id}
            />
          )
          if (!isNarrow || isOpen) return table
          // On a phone each model is a card, and all of them a long way to scroll past.
          return (
            <details>
              <summary className="mb-3 text-accent">{t('packs.pricesShow')}</summary>
              {table}
            </details>
          )
        }}
      </Asked>
    </Panel>
  )
}
