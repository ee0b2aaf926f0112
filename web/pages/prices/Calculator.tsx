// The calculator: an average request and how many a day, in credits, in roubles, and in days that
// each pack would last. Its numbers stand in the address.
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type {
  Credits as CreditsValue,
  Pack,
  Prices,
} from '../../../src/cabinet/contract/contract.ts'
import { creditsOf } from '../../format/decimal.ts'
import { useFormat } from '../../format/format.ts'
import { usePhrases } from '../../format/phrases.ts'
import { paths } from '../../paths.ts'
import { Rubles } from '../../ui/amounts.tsx'
import { SelectField } from '../../ui/form/Field.tsx'
import { WholeField } from '../../ui/form/WholeField.tsx'
import { Panel } from '../../ui/parts.tsx'
import { Table } from '../../ui/Table.tsx'
import {
  type CalculatorSearch,
  countOf,
  daysOf,
  kopecksFor,
  type Load,
  loadFields,
  requestCost,
  usualLoad,
} from './estimate.ts'

/** A month that has no name. */
const MONTH_DAYS = 30n

type Texts = Readonly<Record<keyof Load, string>>

export function Calculator({ prices }: { readonly prices: Prices }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const search: CalculatorSearch = useSearch({ from: '/site/prices' })
  const [texts, setTexts] = useState<Texts>(() => textsOf(search))
  const model = prices.models.find(({ id }) => id === search.model) ?? prices.models[0]
  const load = loadOf(texts)
  const keep = (change: CalculatorSearch) =>
    void navigate({
      to: paths.prices,
      search: { ...search, ...change },
      replace: true,
      resetScroll: false,
    })
  const type = (field: keyof Load, text: string) => {
    setTexts({ ...texts, [field]: text })
    const count = countOf(text)
    if (count !== undefined) keep({ [field]: Number(count) })
  }
  if (model === undefined) return null
  const perRequest = requestCost(model, load)
  return (
    <Panel title={t('prices.calculator.title')} hint={t('prices.calculator.hint')}>
      <div className="grid gap-6">
        <div className="grid items-end gap-4 sm:grid-cols-2 lg:grid-cols-3">
          <SelectField
            label={t('prices.calculator.model')}
            value={model.id}
            onChange={(id) => keep({ model: id })}
            options={prices.models.map(({ id, name }) => ({ value: id, label: name }))}
          />
          {loadFields.map((field) => (
            <WholeField
              key={field}
              label={t(`prices.calculator.${field}`)}
              value={texts[field]}
              error={countOf(texts[field]) === undefined ? t('prices.calculator.wrong') : undefined}
              onChange={(text) => type(field, text)}
              className="figures"
            />
          ))}
        </div>
        <Outcome perRequest={perRequest} perDay={perRequest * load.requests} packs={prices.packs} />
      </div>
    </Panel>
  )
}

function Outcome(props: {
  readonly perRequest: bigint
  readonly perDay: bigint
  readonly packs: readonly Pack[]
}) {
  const { perRequest, perDay, packs } = props
  const { t } = useTranslation()
  const phrases = usePhrases()
  const perMonth = perDay * MONTH_DAYS
  return (
    <div className="grid gap-5 border-t border-line pt-5">
      <dl aria-live="polite" className="grid gap-4 sm:grid-cols-3">
        <Figure name={t('prices.calculator.perRequest')} value={creditsOf(perRequest)} />
        <Figure name={t('prices.calculator.perDay')} value={creditsOf(perDay)} />
        <Figure name={t('prices.calculator.perMonth')} value={creditsOf(perMonth)} />
      </dl>
      {packs.length > 0 && (
        <Table
          caption={t('prices.calculator.table')}
          rows={packs}
          rowId={({ id }) => id}
          columns={[
            {
              id: 'pack',
              label: t('prices.calculator.pack'),
              isTitle: true,
              cell: ({ credits }) => phrases.creditsShort(credits),
            },
            {
              id: 'month',
              label: t('prices.calculator.month'),
              isNumber: true,
              cell: (pack) => <Rubles kopecks={String(kopecksFor(perMonth, pack))} />,
            },
            {
              id: 'lasts',
              label: t('prices.calculator.lasts'),
              isNumber: true,
              cell: (pack) => <Days days={daysOf(pack, perDay)} />,
            },
          ]}
        />
      )}
      <p className="text-sm text-soft">{t('prices.calculator.rounding')}</p>
    </div>
  )
}

function Figure({ name, value }: { readonly name: string; readonly value: CreditsValue }) {
  const phrases = usePhrases()
  return (
    <div className="min-w-0">
      <dt className="text-sm text-soft">{name}</dt>
      <dd className="figures font-serif text-xl font-semibold wrap-anywhere">
        {phrases.creditsExact(value)}
      </dd>
    </div>
  )
}

function Days({ days }: { readonly days: bigint | null }) {
  const { t } = useTranslation()
  const format = useFormat()
  const phrases = usePhrases()
  if (days === null) return t('prices.calculator.never')
  if (days === 0n) return t('prices.calculator.underDay')
  return t('prices.calculator.days', { count: phrases.form(days), shown: format.whole(days) })
}

function textsOf(search: CalculatorSearch): Texts {
  const text = (field: keyof Load) => String(search[field] ?? usualLoad[field])
  return Object.fromEntries(loadFields.map((field) => [field, text(field)])) as Texts
}

/** What cannot be read counts as nothing; its field says so. */
function loadOf(texts: Texts): Load {
  const counts = loadFields.map((field) => [field, countOf(texts[field]) ?? 0n])
  return Object.fromEntries(counts) as Load
}
