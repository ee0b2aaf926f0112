// The price of a token of each model in credits, all the numbers that a charge is computed from,
// and of a million tokens in roubles. A model with a second price list for long prompts has a row
// for each.
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import type { Kopecks } from '../../../src/cabinet/contract/contract.ts'
import type { ModelPrice, PriceList, TokenKind } from '../../../src/cabinet/contract/prices.ts'
import { MILLION, millionthsOf } from '../../format/decimal.ts'
import { dimensions } from '../../format/price-names.ts'
import { capitalized, usePriceWords } from '../../format/price-words.ts'
import { useFormat } from '../../format/use-format.ts'
import { type Rate, useRate } from '../../format/use-rate.ts'
import { NARROW, useMedia } from '../../runtime/media.ts'
import { pricesQuery } from '../../runtime/queries.ts'
import { Panel } from '../../ui/parts.tsx'
import { QueryView } from '../../ui/QueryView.tsx'
import { type Column, Table } from '../../ui/Table.tsx'

type Row = { readonly model: ModelPrice; readonly list: PriceList }

/** `isOpen`: the table is shown at once, also on a phone. */
export function ModelPrices({ isOpen = false }: { readonly isOpen?: boolean }) {
  const { t } = useTranslation()
  const query = useQuery(pricesQuery)
  const isNarrow = useMedia(NARROW)
  const columns = useColumns()
  return (
    <Panel title={t('packs.prices')} hint={<Hint models={query.data?.models ?? []} />}>
      <QueryView query={query}>
        {({ models }) => {
          const table = (
            <Table
              caption={t('packs.prices')}
              columns={columns}
              rows={models.flatMap(rowsOf)}
              rowId={({ model, list }) => `${model.id} ${list.name}`}
            />
          )
          if (!isNarrow || isOpen) return table
          // On a phone each model is a card, and together they make the page very long.
          return (
            <details>
              <summary className="mb-3 text-accent">{t('packs.pricesShow')}</summary>
              {table}
            </details>
          )
        }}
      </QueryView>
    </Panel>
  )
}

/** The lists for each length of a prompt; those of other values are products of these. */
function rowsOf(model: ModelPrice): Row[] {
  const plain = model.lists.filter(({ values }) => Object.keys(values).length === 0)
  return plain.map((list) => ({ model, list }))
}

function Hint({ models }: { readonly models: readonly ModelPrice[] }) {
  const { t } = useTranslation()
  const rate = useRate()
  const isUnit = models.flatMap(rowsOf).every(({ list }) => list.input === '1')
  const hasTiers = models.some((model) => rowsOf(model).length > 1)
  const hasMultipliers = models.some(({ multipliers }) =>
    dimensions.some((name) => Object.keys(multipliers[name]).length > 0),
  )
  return [
    t(isUnit ? 'packs.pricesHint' : 'packs.pricesHintPlain'),
    ...(hasTiers ? [t('packs.pricesTiers')] : []),
    ...(hasMultipliers ? [t('packs.pricesTimes')] : []),
    ...(rate === undefined ? [] : [t('packs.pricesInRubles', { source: rate.source })]),
  ].join(' ')
}

function useColumns(): readonly Column<Row>[] {
  const { t } = useTranslation()
  const format = useFormat()
  const rate = useRate()
  const priceColumn = (id: TokenKind) => ({
    id,
    label: t(`packs.${id}`),
    isNumber: true,
    cell: ({ list }: Row) => (
      <>
        {format.decimal(list[id])}
        {rate !== undefined && (
          <span className="block text-sm whitespace-nowrap text-soft">
            <span aria-hidden>{format.rubles(perMillionTokens(list[id], rate))}</span>
            <span className="sr-only">
              {t('packs.perMillionTokens', {
                rubles: format.rubles(perMillionTokens(list[id], rate)),
              })}
            </span>
          </span>
        )}
      </>
    ),
  })
  return [
    {
      id: 'model',
      label: t('packs.model'),
      isTitle: true,
      cell: ({ model, list }) => (
        <>
          {format.text(model.name)}
          {list.name === '' ? <About model={model} /> : <Condition list={list} />}
        </>
      ),
    },
    priceColumn('input'),
    priceColumn('output'),
    priceColumn('cacheRead'),
    priceColumn('cacheWrite5m'),
    priceColumn('cacheWrite1h'),
  ]
}

/** The price of a million tokens, from the credits that one of them costs. */
function perMillionTokens(credits: string, rate: Rate): Kopecks {
  return rate.kopecks(millionthsOf(credits) * MILLION)
}

/** The model's id, its multipliers and its tools. */
function About({ model }: { readonly model: ModelPrice }) {
  const words = usePriceWords()
  const factors = dimensions.flatMap((name) => words.multipliers(model, name))
  return (
    <span className="block text-sm font-normal text-soft">
      <code className="block wrap-anywhere">{model.id}</code>
      {factors.length > 0 && capitalized(factors.map((one) => one.words).join(', '))}
      {model.tools.map((tool) => (
        <span key={tool.feature} className="block">
          {capitalized(words.perUse(tool))}
        </span>
      ))}
    </span>
  )
}

function Condition({ list }: { readonly list: PriceList }) {
  const words = usePriceWords()
  return (
    <span className="block text-sm font-normal text-soft">{capitalized(words.list(list))}</span>
  )
}
